package netns

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// NS is a named network namespace that belongs to one test. Its methods may be
// called from several goroutines; those without an error result end the test
// on failure, and so belong on the test's own goroutine.
type NS struct {
	t    testing.TB
	name string
}

// New returns a fresh namespace in which nothing but the loopback device is
// up. It is deleted when t is over.
func New(t testing.TB) *NS {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("netns: a network namespace needs root")
	}
	n := &NS{t: t, name: "eddy-" + strings.ToLower(rand.Text()[:10])}
	ip(t, "netns", "add", n.name)
	t.Cleanup(func() { ip(t, "netns", "del", n.name) })
	n.IP("link", "set", "lo", "up")
	return n
}

// Name is the name by which ip(8) knows the namespace.
func (n *NS) Name() string { return n.name }

// IP runs ip(8) with the arguments inside the namespace.
func (n *NS) IP(args ...string) {
	n.t.Helper()
	ip(n.t, append([]string{"-n", n.name}, args...)...)
}

// Do runs fn on a thread that is inside the namespace and returns its error.
// Goroutines that fn starts are outside. The thread ends with fn: a process
// started in fn must not have a Pdeathsig, and fn must not call t.FailNow.
func (n *NS) Do(fn func() error) error {
	done := make(chan error, 1)
	go func() {
		// Never unlocked: the runtime ends the thread together with this
		// goroutine, so that no other goroutine ever runs in the namespace.
		runtime.LockOSThread()
		done <- n.enter(fn)
	}()
	return <-done
}

func (n *NS) enter(fn func() error) error {
	f, err := os.Open("/run/netns/" + n.name)
	if err != nil {
		return fmt.Errorf("netns: %w", err)
	}
	err = unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
	f.Close()
	if err != nil {
		return fmt.Errorf("netns: entering %s: %w", n.name, err)
	}
	return fn()
}

// Join connects two namespaces by a veth pair and brings both ends up. Devices
// are named as ip(8) has it (at most 15 bytes), addresses are prefixes such as
// "192.0.2.1/24"; an empty one leaves the end without an address.
func Join(a *NS, aDev, aAddr string, b *NS, bDev, bAddr string) {
	a.t.Helper()
	a.IP("link", "add", aDev, "type", "veth", "peer", "name", bDev, "netns", b.name)
	a.up(aDev, aAddr)
	b.up(bDev, bAddr)
}

// AddTUN creates the persistent TUN device dev (layer 3), gives the
// namespace's side the address and brings it up. A peer takes the other side
// by opening /dev/net/tun within [NS.Do] and naming dev.
func (n *NS) AddTUN(dev, addr string) {
	n.t.Helper()
	n.IP("tuntap", "add", dev, "mode", "tun")
	n.up(dev, addr)
}

// AddTAP is [NS.AddTUN] for a TAP device (layer 2), as QEMU wants.
func (n *NS) AddTAP(dev, addr string) {
	n.t.Helper()
	n.IP("tuntap", "add", dev, "mode", "tap")
	n.up(dev, addr)
}

func (n *NS) up(dev, addr string) {
	n.t.Helper()
	if addr != "" {
		n.IP("addr", "add", addr, "dev", dev)
	}
	n.IP("link", "set", dev, "up")
}

func ip(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("netns: ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
