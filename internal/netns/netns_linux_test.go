package netns

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestJoin(t *testing.T) {
	a, b := New(t), New(t)
	Join(a, "eth0", "192.0.2.1/24", b, "eth0", "192.0.2.2/24")

	var l net.Listener
	err := a.Do(func() (err error) {
		l, err = net.Listen("tcp", "192.0.2.1:2049")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	var c net.Conn
	err = b.Do(func() (err error) {
		c, err = net.Dial("tcp", "192.0.2.1:2049")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.LocalAddr().(*net.TCPAddr).IP.String(); got != "192.0.2.2" {
		t.Errorf("dialled from %s", got)
	}

	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Write([]byte("over the veth pair")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if got, err := io.ReadAll(c); err != nil || string(got) != "over the veth pair" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestDevices(t *testing.T) {
	n := New(t)
	n.AddTUN("tun0", "198.51.100.1/24")
	n.AddTAP("tap0", "")
	err := n.Do(func() error {
		for _, dev := range []string{"lo", "tun0", "tap0"} {
			i, err := net.InterfaceByName(dev)
			if err != nil {
				return err
			}
			if i.Flags&net.FlagUp == 0 {
				t.Errorf("%s is down", dev)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := net.InterfaceByName("tun0"); err == nil {
		t.Error("tun0 is visible outside the namespace")
	}
}

func TestDoReturnsTheError(t *testing.T) {
	boom := errors.New("boom")
	if err := New(t).Do(func() error { return boom }); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
}

func TestDeletedWithItsTest(t *testing.T) {
	var n *NS
	t.Run("owner", func(t *testing.T) { n = New(t) })
	if err := n.Do(func() error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("entering a deleted namespace: %v", err)
	}
}
