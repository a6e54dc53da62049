package clients

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	eddy "eddy.example"
	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/e2e/serve"
	"eddy.example/internal/kernelclient"
	"eddy.example/internal/netns"
	"eddy.example/nfs3"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

var (
	//go:embed testdata/smoke.sh
	smoke string
	//go:embed testdata/transfers.sh
	transfers string
	//go:embed testdata/loss.sh
	loss string
)

// nfsACL is a program that Linux looks for and that need not be there.
const nfsACL = 100227

func TestKernelSmoke(t *testing.T) {
	t.Parallel()
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
		ns := netns.New(t)
		network := kernelclient.TAP(ns, 0)
		fs := watch(memfs.New(memfs.Config{}))
		if err := fs.WriteFile("sub/dir/file", []byte("in a folder"), 0o644); err != nil {
			t.Fatal(err)
		}
		seen := newCalls()
		s := &eddy.Server{Exports: []eddy.Export{open("/", fs)}, Observer: seen}
		addr := start(t, ns, network.Server(), s)

		// "eddy serve" with safe defaults, mounted as its banner says.
		commandAddr := netip.AddrPortFrom(network.Server(), 2049)
		mount := startCommand(t, ns, commandAddr, "--network", network.Server().String()+"/30")["Linux"]
		pasted := `
			sudo() { "$@"; }
			ln -s ../bin/mount.nfs /usr/sbin/ # where mount looks for it
			` + mount + `
			[ "$(cat /mnt/hello.txt)" = 'hello, world' ]
			ls -l /mnt/docs | grep -q ' 69632 .* numbers.txt'
			echo new > /mnt/pub/new
			fails touch /mnt/new
			umount /mnt
		`
		guest.Run(t, kernelclient.Config{
			Kernel: k, Net: network, Port: int(addr.Port()), Script: smoke + pasted,
			Files: map[string]string{"/usr/bin/mount": "/usr/bin/mount"}, // busybox has one that knows no NFS
		}, nil)

		// Once the server has ended it has counted all it was asked.
		if err := s.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		for proc := uint32(nfs3.NFSPROC3_NULL); proc <= nfs3.NFSPROC3_COMMIT; proc++ {
			if p := (procedure{nfs3.NFS_PROGRAM, nfs3.NFS_V3, proc}); seen.served[p] == 0 {
				t.Errorf("the kernel has not called %v", p)
			}
		}
		for p, n := range seen.refused {
			if p.prog != nfsACL {
				t.Errorf("%d calls of %v were refused", n, p)
			}
		}
		if fs.exclusive == 0 {
			t.Error("no EXCLUSIVE create")
		}
	})
}

// sums checks the checksums that a guest has left in /out.
func sums(t *testing.T, files map[string][]byte, data []byte, names ...string) {
	t.Helper()
	right := fmt.Sprintf("%x", sha256.Sum256(data))
	for _, name := range names {
		if got, _, _ := strings.Cut(string(files[name]), " "); got != right {
			t.Errorf("%s: the guest has read %q, want %s", name, got, right)
		}
	}
}

// written checks what a guest has written.
func written(t *testing.T, c *nfs3.Client, data []byte, want ...string) {
	t.Helper()
	right := sha256.Sum256(data)
	for _, name := range want {
		sum := sha256.New()
		copyFile(t, sum, c, name)
		if !bytes.Equal(sum.Sum(nil), right[:]) {
			t.Errorf("%s: the guest has written something else", name)
		}
	}
}

func TestKernelTransfers(t *testing.T) {
	t.Parallel()
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
		const size, record = 64 << 20, 47008
		data := random(size)
		fs := watch(memfs.New(memfs.Config{}))
		if err := fs.WriteFile("random", data, 0o644); err != nil {
			t.Fatal(err)
		}
		ns := netns.New(t)
		network := kernelclient.TAP(ns, 0)
		auto := &eddy.Server{Exports: []eddy.Export{open("/", fs)}}
		always := &eddy.Server{Exports: auto.Exports, ZeroCopy: xprt.ZeroCopyAlways}
		addr, alwaysAddr := start(t, ns, network.Server(), auto), start(t, ns, network.Server(), always)

		files := guest.Run(t, kernelclient.Config{
			Kernel: k, Net: network, Port: int(addr.Port()),
			Script: fmt.Sprintf("ALWAYS=%d\n%s", alwaysAddr.Port(), transfers),
		}, nil)
		sums(t, files, data, "random")
		for _, s := range []*eddy.Server{auto, always} {
			if n := s.Stats().Transport.Accepted; n != 2 {
				t.Errorf("%d connections, want one for MOUNT and one for NFS", n)
			}
		}
		reads, writes := fs.lengths()
		written(t, inside(t, auto), data, "47008-buffered", "1M-buffered", "47008-direct", "1M-direct")
		if n := reads[record]; n < 2*(size/record) {
			t.Errorf("%d READs of %d bytes, want %d", n, record, 2*(size/record))
		}
		if n := writes[record]; n < size/record {
			t.Errorf("%d WRITEs of %d bytes, want %d", n, record, size/record)
		}
		if r, w := reads[1<<20], writes[1<<20]; r < size>>20 || w < size>>20 {
			t.Errorf("%d READs and %d WRITEs of 1 MiB, want %d", r, w, size>>20)
		}
		if s := always.Stats().Transport.Sends; s.ZeroCopy == 0 {
			t.Errorf("nothing was sent without copying: %+v", s)
		}
	})
}

func TestKernelLoss(t *testing.T) {
	t.Parallel()
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
		data := random(8 << 20)
		here := filepath.Join(t.TempDir(), "random")
		if err := os.WriteFile(here, data, 0o644); err != nil {
			t.Fatal(err)
		}
		fs := watch(memfs.New(memfs.Config{}))
		for _, name := range []string{"random", "other"} {
			if err := fs.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		ns := netns.New(t)
		network := kernelclient.TAP(ns, 0)
		ns.IP("link", "set", "guest0", "gso_max_segs", "1")
		s := &eddy.Server{Exports: []eddy.Export{open("/", fs)}, ZeroCopy: xprt.ZeroCopyAlways}
		addr := start(t, ns, network.Server(), s)

		// The guest makes a directory when all is transferred: its connections are
		// there for sure while that is not answered.
		seen := make(chan sockets, 1)
		fs.signal = func(string) { seen <- inspect(ns, addr.Port()) }

		files := guest.Run(t, kernelclient.Config{
			Kernel: k, Net: network, Port: int(addr.Port()), Script: loss,
			Files: map[string]string{"/srv/random": here},
		}, nil)
		sums(t, files, data, "1M-buffered", "47008-direct")
		written(t, inside(t, s), data, "1M-buffered", "47008-direct")
		select {
		case s := <-seen:
			t.Logf("the server's sockets: %+v", s)
			if s.err != nil || s.retransmitted == 0 || s.outOfOrder == 0 || s.minRTT < 39*time.Millisecond {
				t.Error("they have not seen the loss or the delay")
			}
		default:
			t.Error("the guest has not signalled")
		}
		if p := serve.Pages(s); p.Reused == 0 {
			t.Errorf("no page was used again: %+v", p)
		}
	})
}

// sockets is what the server's ends of all connections have seen.
type sockets struct {
	err           error
	n             int
	retransmitted uint32 // segments that were sent again
	outOfOrder    uint32 // segments that arrived so
	minRTT        time.Duration
}

// inspect asks the kernel about the connections at a port in the namespace.
func inspect(ns *netns.NS, port uint16) (s sockets) {
	s.minRTT = math.MaxInt64
	s.err = ns.Do(func() error {
		infos, err := netlink.SocketDiagTCPInfo(unix.AF_INET)
		for _, i := range infos {
			if i.InetDiagMsg.ID.SourcePort == port && i.InetDiagMsg.State == netlink.TCP_ESTABLISHED {
				s.n++
				s.retransmitted += i.TCPInfo.Total_retrans
				s.outOfOrder += i.TCPInfo.Rcv_ooopack
				s.minRTT = min(s.minRTT, time.Duration(i.TCPInfo.Min_rtt)*time.Microsecond)
			}
		}
		return err
	})
	return s
}
