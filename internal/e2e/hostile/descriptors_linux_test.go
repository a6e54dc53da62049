package hostile

import (
	"net"
	"os"
	"testing"

	eddy "eddy.example"
	"golang.org/x/sys/unix"
)

// TestNoDescriptors takes the process's file descriptors away while clients connect. Those that are
// connected are served, and the others as soon as there are some.
func TestNoDescriptors(t *testing.T) {
	w, _, _ := serveTree(t, new(eddy.Server))
	c := w.client("tcp")
	defer c.Close()
	w.served(c, 1)
	addr := must(net.ResolveTCPAddr("tcp", w.addr["tcp"]))

	// The sockets are made before, because this is the process of the clients as well.
	var sockets []int
	for range 20 {
		sockets = append(sockets, must(unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)))
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	less := limit
	less.Cur = uint64(sockets[0])
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &less); err != nil {
		t.Fatal(err)
	}
	for _, fd := range sockets {
		if err := unix.Connect(fd, &unix.SockaddrInet4{Port: addr.Port, Addr: [4]byte(addr.IP.To4())}); err != nil {
			t.Error(err)
		}
	}
	w.served(c, 1000)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for _, fd := range sockets {
		f := os.NewFile(uintptr(fd), "")
		nc, err := net.FileConn(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		p := newPeer(t, nc)
		p.expect("NULL", callMessage(1, 100003, 3, 0, nil, nil), "void")
		p.Close()
	}
	c.Close()
	w.idle()
}
