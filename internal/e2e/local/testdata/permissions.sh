# Mounts what the test's own program then works on.

mkdir /ref
mount -t tmpfs -o mode=755 ref /ref
kc_mount 3 /mnt/admin nosharecache,actimeo=0 /
for export in none root all; do
    kc_mount 3 /mnt/$export nosharecache,actimeo=0 /$export
done
EDDY_TEST_USERS=compare users
umount /mnt/*
