package xprt

import (
	"errors"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNoDescriptors starts a transport when the process may open no more files.
func TestNoDescriptors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	none := unix.Rlimit{Cur: 0, Max: old.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	tr := New(Config{Workers: 2}, echo)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if err := tr.Serve(l); !errors.Is(err, unix.EMFILE) {
		t.Errorf("Serve: %v, want %v", err, unix.EMFILE)
	}
	server, client := Pipe()
	defer client.Close()
	if err := tr.ServeConn(server); !errors.Is(err, unix.EMFILE) {
		t.Errorf("ServeConn: %v, want %v", err, unix.EMFILE)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
}
