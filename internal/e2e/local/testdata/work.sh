# Clones repositories, builds a program, unpacks an archive and packs it again.

kc_mount 3 /mnt/a
cd /mnt/a
export HOME=/root GIT_CONFIG_COUNT=3 \
    GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=Somebody \
    GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=somebody@example.org \
    GIT_CONFIG_KEY_2=safe.directory GIT_CONFIG_VALUE_2='*'

git clone -q /srv/repository clone
git -C clone fsck --full --strict --no-progress
git clone -q --no-local clone again # by a pack, and the other one by hard links
git clone -q clone linked
forget
for c in clone again linked; do [ -z "$(git -C $c status --porcelain)" ]; done
[ "$(git -C again rev-parse HEAD)" = "$(git -C /srv/repository rev-parse HEAD)" ]
echo more >> again/file-1
git -C again commit -qam 'One more line'
git -C again push -q origin HEAD:refs/heads/pushed
[ "$(git -C clone show pushed:file-1 | tail -n 1)" = more ]
git -C clone gc -q
git -C clone fsck --full --no-progress

# A program of several parts, by a compiler and make. Nothing is built again unless
# it is older than what it is made of.
mkdir build
cd build
for i in $(seq 20); do echo "int part$i(void) { return $i; }" > part$i.c; done
{
    echo 'int printf(const char *, ...);'
    for i in $(seq 20); do echo "int part$i(void);"; done
    echo 'int main(void) { int sum = 0;'
    for i in $(seq 20); do echo "sum += part$i();"; done
    echo 'printf("%d\n", sum); return 0; }'
} > main.c
cat > Makefile <<'END'
objects := $(patsubst %.c,%.o,$(wildcard *.c))
program: $(objects)
	tcc -o $@ $^
%.o: %.c
	tcc -c -o $@ $<
END
make -s -j2
[ "$(./program)" = 210 ]
make -q
echo 'int part7(void) { return 1007; }' > part7.c
[ "$(make | wc -l)" = 2 ]
[ "$(./program)" = 1210 ]
cd ..

mkdir tree
tar -xf /srv/tree.tar -C tree
forget
tar -cf /out/tree.tar -C tree .
cd /
umount /mnt/a
