# 8 MiB in each of four ways at the same time, over a network that delays by 40 ms
# and loses 1% of the packets of both directions. Without segmentation offload a
# packet is one segment.
set -o pipefail
trap 'echo "loss: line $LINENO: $BASH_COMMAND"' ERR

cp /srv/random /tmp/random
ip link set eth0 gso_max_segs 1
kc_netem out delay 40ms loss 1%
kc_netem in loss 1%
kc_mount 3 /mnt/a nconnect=4

transfers=()
carry() { dd status=none "$@" & transfers+=($!); }
carry if=/tmp/random of=/mnt/a/47008-direct bs=47008 oflag=direct conv=fsync
carry if=/tmp/random of=/mnt/a/1M-buffered bs=1M conv=fsync
carry if=/mnt/a/random of=/tmp/47008-direct bs=47008 iflag=direct
carry if=/mnt/a/other of=/tmp/1M-buffered bs=1M
for pid in "${transfers[@]}"; do wait $pid; done

mkdir /mnt/a/signal-transferred
for name in 47008-direct 1M-buffered; do
    sha256sum < /tmp/$name > /out/$name
done
cp /proc/self/mountstats /out/mountstats
umount /mnt/a
