package sockowner

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

func addrPort(t *testing.T, a net.Addr) netip.AddrPort {
	t.Helper()
	p, err := netip.ParseAddrPort(a.String())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOwnSocket(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		uid, err := Of("tcp", addrPort(t, c.LocalAddr()), addrPort(t, c.RemoteAddr()))
		if err != nil || uid != uint32(os.Getuid()) {
			t.Errorf("%s: owner %d, %v; want %d", addr, uid, err, os.Getuid())
		}
	}
}

func TestOwnDatagramSocket(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	for _, how := range []string{"connected", "unconnected"} {
		var c net.PacketConn
		if how == "connected" {
			conn, err := net.Dial("udp", pc.LocalAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			c = conn.(*net.UDPConn)
		} else if c, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		uid, err := Of("udp", addrPort(t, c.LocalAddr()), addrPort(t, pc.LocalAddr()))
		if err != nil || uid != uint32(os.Getuid()) {
			t.Errorf("%s: owner %d, %v; want %d", how, uid, err, os.Getuid())
		}
	}
}

// TestOtherUser needs root: it lets another user connect.
func TestOtherUser(t *testing.T) {
	const uid = 65534
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	cmd := exec.Command("/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/"+strconv.Itoa(port)+"; read -r -u 3")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := Of("tcp", addrPort(t, c.RemoteAddr()), addrPort(t, c.LocalAddr()))
	if err != nil || got != uid {
		t.Errorf("owner %d, %v; want %d", got, err, uid)
	}
}

func TestNoSuchSocket(t *testing.T) {
	a := netip.MustParseAddrPort("127.0.0.1:1")
	if _, err := Of("tcp", a, netip.MustParseAddrPort("127.0.0.1:2")); !errors.Is(err, ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}
