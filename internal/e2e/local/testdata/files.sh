# What people do with files. Any command that fails ends it; the test looks at the
# server's directory afterwards.

kc_mount 3 /mnt/a
kc_mount 3 /mnt/other nosharecache,actimeo=1
cd /mnt/a

# Names of any bytes.
mkdir names
(
    cd names
    for i in $(seq 1 255); do
        [ $i = 47 ] || : > "$(printf "\\x$(printf %02x $i)b")" # the shell takes a newline from the end
    done
    touch -- "$(printf 'n%.0s' $(seq 255))" $'\xff\xfe\x80' ' ' '-rf'
    fails touch "$(printf 'n%.0s' $(seq 256))"
    fails mkdir ''
)
[ "$(find names -mindepth 1 -print0 | tr -dc '\0' | wc -c)" = 258 ]

# Renames, over what is there too.
mkdir -p d/e/f
echo one > d/one
echo two > d/two
mv d/one d/e/f/uno
mv -f d/e/f/uno d/two
[ "$(cat d/two)" = one ]
fails mv d d/e
mkdir full empty
touch full/file
fails mv -T empty full
mv -T full empty
[ -e empty/file ] && [ ! -e full ]
fails mv -T d/two empty
mv d/e/f .
rmdir f d/e
fails rmdir d

# Links.
ln d/two hard
ln hard d/third
[ "$(stat -c %h hard)" = 3 ] && [ "$(stat -c %i hard)" = "$(stat -c %i d/two)" ]
rm d/third
[ "$(stat -c %h hard)" = 2 ]
ln -s d/two soft
ln -s "$(printf 't%.0s' $(seq 1000))" far
forget
[ "$(cat soft)" = one ] && [ "$(readlink far | wc -c)" = 1001 ]
fails ln d no

# Things that are no files.
mkdir -m 750 special
mkfifo special/fifo
mknod special/char c 1 3
mknod special/block b 259 70000
chmod 640 special/*
echo through > special/fifo &
[ "$(cat special/fifo)" = through ]
wait $!
echo gone > special/char

# Attributes and times.
echo text > attr
chown 1001:1002 attr
chmod 6751 attr
touch -d '2001-02-03 04:05:06.123456789 UTC' attr
ln -s nowhere attrlink
chown -h 1002:1001 attrlink
touch -h -d '1999-12-31 23:59:59.999999999 UTC' attrlink
touch -d '1950-01-01 UTC' old && fails test old -nt attr # before 1970 there is no time
touch -a -d '2010-10-10 10:10:10.1 UTC' attr
forget
[ "$(stat -c '%a %u %g %s %.9X %.9Y' attr)" = '6751 1001 1002 5 1286705410.100000000 981173106.123456789' ]
[ "$(stat -c '%u %g %.9Y' attrlink)" = '1002 1001 946684799.999999999' ]
before=$(stat -c %.9Z attr)
chmod 600 attr
[ "$(stat -c %.9Z attr)" != "$before" ]

# Two processes append, by one mount; nothing is lost or torn.
append() { for i in $(seq 1000 1399); do echo "$1 $i"; done >> appended; }
append one & one=$!
append two & two=$!
wait $one && wait $two
[ "$(wc -l < appended)" = 800 ]
for who in one two; do grep "^$who" appended | cmp - <(seq -f "$who %g" 1000 1399); done

# Sizes.
dd if=/dev/urandom of=cut bs=1000 count=100 status=none
head -c 12345 cut > /tmp/head
truncate -s 12345 cut
truncate -s 20000 cut
forget
head -c 12345 cut | cmp - /tmp/head
tail -c 7655 cut | cmp - <(head -c 7655 /dev/zero)
[ "$(stat -c %s cut)" = 20000 ]
printf x | dd of=sparse bs=1 seek=5G conv=fsync status=none
printf x | dd of=sparse bs=1 seek=1G conv=fsync,notrunc status=none
truncate -s 8T huge
[ "$(stat -c %s sparse)" = 5368709121 ] && [ "$(du -k sparse | cut -f1)" -lt 1000 ]
dd if=sparse bs=1 skip=1G count=2 status=none | cmp - <(printf 'x\0')

# A file that is removed, or replaced, while it is open can still be read.
echo old > replaced
exec 3< hard 4< replaced
rm hard
echo new > replacement
mv replacement replaced
[ "$(cat <&3)" = one ] && [ "$(cat <&4)" = old ] && [ "$(cat replaced)" = new ]
exec 3<&- 4<&-

# A file is created by one only.
(set -o noclobber; echo mine > excl)
fails eval '(set -o noclobber; echo yours > excl)'
[ "$(cat /mnt/other/excl)" = mine ]

# 5000 entries; all of them, and each once, are listed while others come and go.
mkdir many
seq -f 'stays-%04g' 5000 | (cd many && xargs touch)
seq -f 'stays-%04g' 5000 > /tmp/names
forget
ls many | cmp - /tmp/names
touch /tmp/changing
(while [ -e /tmp/changing ]; do
    (cd /mnt/other/many && seq -f 'goes-%g' 40 | xargs touch && seq -f 'goes-%g' 40 | xargs rm)
done) & changing=$!
for i in 1 2 3 4 5; do
    forget
    ls many > /tmp/listed
    grep stays- /tmp/listed | cmp - /tmp/names
    grep goes- /tmp/listed >> /tmp/others || :
done
rm /tmp/changing
wait $changing
[ -s /tmp/others ] # they were there
forget
[ "$(find many -type f | wc -l)" = 5000 ]

# What df says.
sync
cd /
echo 'cue: df'
stat -f -c '%b %f %a %S %c %d %l' /mnt/a > /out/df
umount /mnt/other /mnt/a
