# What people do with a mounted file system. Any command that fails ends it.
set -o pipefail
trap 'echo "smoke: line $LINENO: $BASH_COMMAND"' ERR

ln -sf /proc/self/fd /dev/fd # for <()

fails() { if "$@" 2>/dev/null; then echo "smoke: succeeded: $*"; return 1; fi; }
forget() { echo 3 > /proc/sys/vm/drop_caches; }
as() { local user=$1; shift; su "$user" -s /bin/sh -c "$*"; }

kc_mount 3 /mnt/a
kc_mount 3 /mnt/plain nordirplus,nosharecache
grep -q ' /mnt/a nfs rw,.*vers=3,rsize=1048576,wsize=1048576,.*proto=tcp' /proc/mounts
cd /mnt/a

# A directory of many pages, listed with attributes and without.
mkdir many
(cd many && seq -f 'entry-%04g' 2000 | xargs touch)
seq -f 'entry-%04g' 2000 > /tmp/names
forget
ls many | cmp - /tmp/names
[ "$(ls -a many | wc -l)" = 2002 ]
forget
[ "$(ls -l many | grep -c '^-rw-r--r--')" = 2000 ]
ls /mnt/plain/many | cmp - /tmp/names
seq -f 'entry-%04g' 1 2 2000 | (cd many && xargs rm)
forget
[ "$(ls many | wc -l)" = 1000 ]

# Directories and names.
mkdir -p d/e/f
fails mkdir d
fails rmdir d
echo one > d/one
echo two > d/two
mv d/one d/e/f/uno
mv -f d/e/f/uno d/two
[ "$(cat d/two)" = one ]
mv d/e d/g
rmdir d/g/f
fails ls d/e
mv d d2
[ "$(cat d2/two)" = one ]
fails cat d/two
touch -- 'a name with spaces' '-dash' $'new\nline' "$(printf 'n%.0s' $(seq 255))"
fails touch "$(printf 'n%.0s' $(seq 256))"

# Links.
ln d2/two hard
[ "$(stat -c %h hard)" = 2 ] && [ "$(stat -c %i hard)" = "$(stat -c %i d2/two)" ]
ln -s d2/two soft
ln -s nowhere dangling
forget
[ "$(readlink soft)" = d2/two ] && [ "$(cat soft)" = one ]
fails cat dangling
fails ln d2 no
rm d2/two
[ "$(stat -c %h hard)" = 1 ] && [ "$(cat hard)" = one ]

# Things that are no files.
mkfifo fifo
[ -p fifo ]
echo through > fifo &
[ "$(cat fifo)" = through ]
wait $!
mknod char c 1 3
[ "$(stat -c %F:%t:%T char)" = 'character special file:1:3' ]
echo gone > char
mknod block b 7 200
[ "$(stat -c %F:%t:%T block)" = 'block special file:7:c8' ]

# Attributes.
echo text > attr
chmod 4751 attr
chown 1001:1002 attr
chmod 4751 attr
touch -d '2001-02-03 04:05:06.123456789 UTC' attr
forget
[ "$(stat -c '%a %u %g %s' attr)" = '4751 1001 1002 5' ]
[ "$(stat -c '%.9Y' attr)" = 981173106.123456789 ]
fails as user2 'echo more >> attr'
as user1 'echo more >> attr'
forget
[ "$(stat -c '%a %s' attr)" = '751 10' ] # set-uid falls with a write
chmod 600 attr
fails as user2 'cat attr'
as user1 'cat attr' | cmp - <(printf 'text\nmore\n')

# Sizes.
truncate -s 100000 size
[ "$(stat -c %s size)" = 100000 ]
cmp size <(head -c 100000 /dev/zero)
echo tail >> size
[ "$(tail -c 5 size)" = tail ]
truncate -s 3 size
forget
[ "$(stat -c %s size)" = 3 ]
dd if=/dev/zero of=committed bs=1M count=3 conv=fsync status=none
dd if=/dev/zero of=sparse bs=1 count=1 seek=5G status=none
[ "$(stat -c %s sparse)" = 5368709121 ]
df -P . | awk 'NR == 2 && $2 > 0 && $4 > 0 && $4 <= $2 { ok = 1 } END { exit !ok }'
stat -f -c %l . | grep -qx 255

# A file is created by one only, and is there at once for others.
(set -o noclobber; echo mine > excl)
fails eval '(set -o noclobber; echo yours > excl)'
[ "$(cat /mnt/plain/excl)" = mine ]
[ "$(stat -c '%a %s' excl)" = '644 5' ]
[ "$(($(date +%s) - $(stat -c %Y excl)))" -lt 3600 ] # no verifier left in the times

# A file that is removed while it is open can still be read.
exec 3< hard
rm hard
[ "$(cat <&3)" = one ]
exec 3<&-
flock excl true

rm -r many d2
[ ! -e many ] && [ ! -e d2 ]
cd /
umount /mnt/plain
umount /mnt/a

# What was done is still there for who mounts anew.
mkdir -p /mnt/udp
mount.nfs "$SERVER:$EXPORT" /mnt/udp -o "vers=3,proto=tcp,port=$PORT,mountproto=udp,mountport=$PORT,nolock"
grep -q ' /mnt/udp nfs rw,.*mountproto=udp' /proc/mounts
[ "$(cat /mnt/udp/excl)" = mine ] && [ ! -e /mnt/udp/many ] && [ -p /mnt/udp/fifo ]
fails ls -d /mnt/udp/.nfs* # what stood for the removed file
kc_mount 3 /mnt/sub '' /sub/dir
[ "$(cat /mnt/sub/file)" = 'in a folder' ]
umount /mnt/udp
umount /mnt/sub

# A path that is not exported is an error and no empty directory.
for path in /nowhere /sub/dir/file /sub/nowhere; do
    fails kc_mount 3 /mnt/no '' $path
    fails grep ' /mnt/no ' /proc/mounts
done
