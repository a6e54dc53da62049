set -o pipefail
trap 'echo "line $LINENO: $BASH_COMMAND"' ERR
ln -sf /proc/self/fd /dev/fd # for <()

# fails succeeds if the command does not.
fails() { if "$@" 2>/dev/null; then echo "succeeded: $*"; return 1; fi; }
forget() { echo 3 > /proc/sys/vm/drop_caches; }
# seen waits until a command succeeds.
seen() { until "$@" 2>/dev/null; do sleep 0.1; done; }
