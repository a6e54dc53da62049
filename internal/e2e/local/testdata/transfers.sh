# Reads and writes 64 MiB with records of 47008 bytes and of 1 MiB, through the page
# cache and past it.

kc_mount 3 /mnt/tcp
grep -q ' /mnt/tcp nfs rw,.*vers=3,rsize=1048576,wsize=1048576,.*proto=tcp' /proc/mounts
# Once more, with MOUNT over UDP.
mkdir -p /mnt/udp
mount.nfs "$SERVER:$EXPORT" /mnt/udp \
    -o "vers=3,proto=tcp,port=$PORT,mountproto=udp,mountport=$PORT,nolock,nosharecache"
grep -q ' /mnt/udp nfs rw,.*mountproto=udp' /proc/mounts

dd if=/mnt/tcp/random of=/tmp/random bs=1M status=none
sha256sum < /tmp/random > /out/random

# push SIZE MODE writes a file that the server can compare, pull reads it by the
# other mount.
push() {
    local flags=${2#buffered}
    dd if=/tmp/random of="/mnt/tcp/$1-$2" bs="$1" ${flags:+oflag=$flags} conv=fsync status=none
}
pull() {
    local flags=${2#buffered}
    dd if="/mnt/udp/$1-$2" of=/tmp/copy bs="$1" ${flags:+iflag=$flags} status=none
    cmp /tmp/copy /tmp/random
}
for mode in buffered direct; do
    for size in 47008 1M; do
        push $size $mode
        pull $size $mode
        echo 3 > /proc/sys/vm/drop_caches
    done
done
umount /mnt/tcp /mnt/udp
