package rpc

import (
	"encoding/binary"
	"net"
	"testing"
)

// socketPair returns the two ends of a connection that the kernel carries.
func socketPair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", t.TempDir()+"/socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err = net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return a, b
}

// TestRepliesInGroups sends a reply together with the beginning of the next,
// and the rest only when the caller of the first has been heard of again: he
// must not have to wait for that.
func TestRepliesInGroups(t *testing.T) {
	conn, server := socketPair(t)
	c := NewClient(conn, ClientConfig{})
	t.Cleanup(func() {
		server.Close()
		c.Close()
	})
	null := func() error { return c.Call(background, 1, 1, 0, nil, nil, nil) }
	for range 1000 {
		chain := start(func() error {
			if err := null(); err != nil {
				return err
			}
			return null()
		})
		first := binary.BigEndian.Uint32(receive(t, server))
		single := start(null)
		second := binary.BigEndian.Uint32(receive(t, server))

		put := func(b []byte) {
			t.Helper()
			if _, err := server.Write(b); err != nil {
				t.Fatal(err)
			}
		}
		reply := func(xid uint32) []byte { return record(appendAccepted(nil, xid, SUCCESS)) }
		put(append(reply(first), reply(second)[:7]...))
		third := binary.BigEndian.Uint32(receive(t, server))
		put(append(reply(second)[7:], reply(third)...))
		if err := <-single; err != nil {
			t.Fatal(err)
		}
		if err := <-chain; err != nil {
			t.Fatal(err)
		}
	}
}
