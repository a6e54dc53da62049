# Reads and writes 64 MiB with records of 47008 bytes and of 1 MiB, through the
# page cache and past it.
trap 'echo "transfers: line $LINENO: $BASH_COMMAND"' ERR

# pull DIR SIZE MODE reads a file that the first of all reads has left in /tmp.
pull() {
    local flags=${3#buffered}
    echo 3 > /proc/sys/vm/drop_caches
    dd if="$1/random" of=/tmp/copy bs="$2" ${flags:+iflag=$flags} status=none
    cmp /tmp/copy /tmp/random
}

# push DIR SIZE MODE writes a file that the server can compare.
push() {
    local flags=${3#buffered}
    dd if=/tmp/random of="$1/$2-$3" bs="$2" ${flags:+oflag=$flags} conv=fsync status=none
}

kc_mount 3 /mnt/a
dd if=/mnt/a/random of=/tmp/random bs=1M status=none
sha256sum < /tmp/random > /out/random
pull /mnt/a 47008 buffered
for mode in buffered direct; do
    for size in 47008 1M; do
        push /mnt/a $size $mode
    done
done
pull /mnt/a 47008 direct
pull /mnt/a 1M direct
cp /proc/self/mountstats /out/mountstats
umount /mnt/a

# A server that always sends without copying.
PORT=$ALWAYS MOUNTPORT=$ALWAYS kc_mount 3 /mnt/z
pull /mnt/z 1M buffered
pull /mnt/z 47008 direct
umount /mnt/z
