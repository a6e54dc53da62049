# Sees what others do on the server. A cue is answered by the change on the host, and
# the script waits until that has come here.

kc_mount 3 /mnt/a actimeo=1
cd /mnt/a

# All of it is in the client's caches.
cat grows shrinks changes replaced removed renamed > /dev/null
ls dir gone > /dev/null
exec 3< grows 4< replaced
cat <&3 > /dev/null

echo 'cue: change'
seen grep -q appended grows
[ "$(stat -c %s grows)" = 19 ]
[ "$(cat <&3)" = 'and appended' ] # by who had it open, too
seen eval '[ "$(stat -c %s shrinks)" = 3 ]'
[ "$(cat shrinks)" = shr ]
seen grep -q CHANGES changes
seen eval '[ "$(cat replaced)" = "what came after" ]'
fails cat <&4 # who has the old one open does not get the new one's content
seen fails cat removed
seen eval '[ -e renamed2 ] && [ ! -e renamed ]'
seen eval '[ ! -d gone ]'
seen eval 'ls dir | grep -qx new'
fails ls dir/old
[ "$(cat dir/new)" = new ]
seen eval '[ "$(stat -c "%a %u" mode)" = "600 1001" ]'
seen eval '[ "$(readlink link)" = second ]'
seen eval '[ "$(cat swapped)" = b ]'
[ "$(cat swap)" = a ]
[ -d kind ]

# A file that is removed on the server while it is open here.
exec 5< doomed
cat doomed > /dev/null
echo 'cue: remove'
seen fails stat doomed
forget
fails cat <&5

# A directory that is moved while somebody sits in it, and one that is removed.
cd dir/sub
echo 'cue: move'
seen ls ../../moved/sub/deep
echo text > deep/file
[ "$(cat ../../moved/sub/deep/file)" = text ]
cd deep
echo 'cue: rmdir'
seen fails ls .
fails touch file
cd /mnt/a
seen fails ls moved/sub
exec 3<&- 4<&- 5<&-
cd /
umount /mnt/a
