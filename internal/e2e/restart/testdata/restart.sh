# Works while the server dies again and again. The mount is a hard one, so that no
# command may fail.
set -o pipefail
trap 'echo "line $LINENO: $BASH_COMMAND"' ERR
forget() { echo 3 > /proc/sys/vm/drop_caches; }

kc_mount 3 /mnt/a actimeo=1
kc_mount 3 /mnt/other actimeo=1,nosharecache
cp /mnt/a/random /tmp/random
cd /mnt/a

# What was written but not committed is gone with the server that dies of the COMMIT.
dd if=/tmp/random of=uncommitted bs=1M conv=fsync status=none
cmp uncommitted /tmp/random

# Somebody sits in a directory, below one that gets another name.
mkdir -p sit/one/two/three
cd sit/one/two/three
echo here > file
mv /mnt/other/sit/one /mnt/other/sit/uno

# All of them go on until it is enough.
write() {
    local n=0
    until [ -e /mnt/a/enough ]; do
        n=$((n + 1))
        dd if=/tmp/random of=/mnt/a/written-$1-$((n % 4)) bs=$2 status=none "${@:3}"
    done
    echo $n > /tmp/written-$1
}
list() {
    local n=0
    until [ -e /mnt/a/enough ]; do
        n=$((n + 1))
        forget
        ls /mnt/a/many | cmp - /tmp/names
    done
    echo $n > /tmp/listed
}
read_() {
    local n=0
    until [ -e /mnt/a/enough ]; do
        n=$((n + 1))
        dd if=/mnt/a/random of=/tmp/copy bs=47008 iflag=direct status=none
        cmp /tmp/copy /tmp/random
    done
    echo $n > /tmp/read
}
sit() {
    local n=0
    until [ -e /mnt/a/enough ]; do
        n=$((n + 1))
        echo "here $n" > file
        [ "$(cat file)" = "here $n" ]
        [ "$(cat ../three/file)" = "here $n" ]
        ls . | grep -qx file
    done
    echo $n > /tmp/sat
}
seq -f 'entry-%04g' 400 > /tmp/names
jobs=()
start() { "$@" & jobs+=($!); }
start write cached 47008 conv=fsync
start write direct 1M oflag=direct
start list
start read_
start sit
for pid in "${jobs[@]}"; do wait $pid; done
cat /tmp/written-cached /tmp/written-direct /tmp/listed /tmp/read /tmp/sat | tr '\n' ' ' > /out/rounds

# Whoever sits there still does.
[ "$(cat file)" = "here $(cat /tmp/sat)" ]
echo still > file
cd ../..
[ "$(cat two/three/file)" = still ]
echo 'cue: where'
echo found > found
cd /mnt/a

# The server dies of the first of each of these.
mkdir made
echo content > made/file
chmod 751 made
ln -s target made/soft
mkfifo made/fifo
ln made/file made/hard
mv made/file made/moved
rm made/hard
mkdir made/empty
rmdir made/empty
(set -o noclobber; echo exclusive > made/exclusive)

forget
ls -a made | tr '\n' ' ' > /out/made
[ "$(cat made/moved)" = content ] && [ "$(cat made/exclusive)" = exclusive ]
[ "$(stat -c %a made)" = 751 ] && [ "$(readlink made/soft)" = target ] && [ -p made/fifo ]
for f in uncommitted written-*; do cmp $f /tmp/random; done
cd /
umount /mnt/a /mnt/other
