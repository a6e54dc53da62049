package xdppass

import (
	"fmt"
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/internal/netns"
)

// Attach puts an XDP program that passes every packet on the device ifname of
// the namespace, in the driver, until t is over. It needs root.
func Attach(t testing.TB, ns *netns.NS, ifname string) {
	t.Helper()
	var link int
	err := ns.Do(func() error {
		dev, err := net.InterfaceByName(ifname)
		if err != nil {
			return err
		}
		prog, err := loadPass()
		if err != nil {
			return fmt.Errorf("loading the program: %w", err)
		}
		defer unix.Close(prog) // the link holds it
		link, err = attach(prog, dev.Index)
		return err
	})
	if err != nil {
		t.Fatalf("xdppass: attaching to %s: %v", ifname, err)
	}
	t.Cleanup(func() { unix.Close(link) })
}
