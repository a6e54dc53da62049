package rpcbind

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eddy.example/rpc"
	"eddy.example/xprt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func addr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

// table is a host with two programs: one everywhere, one on some addresses.
func table() []Entry {
	return []Entry{
		{100003, 3, "tcp", addr("0.0.0.0:2049"), "superuser"},
		{100003, 3, "udp", addr("0.0.0.0:2050"), "superuser"},
		{100003, 3, "tcp6", addr("[::]:2049"), "superuser"},
		{100003, 4, "tcp", addr("0.0.0.0:2051"), "superuser"},
		{7, 1, "tcp", addr("127.0.0.1:700"), "1000"},
		{7, 1, "tcp6", addr("[2001:db8::1]:701"), "1000"},
	}
}

type clock int64

func (c clock) Now() time.Time { return time.Unix(int64(c), 0) }

// serve serves a program over TCP and UDP of the IPv4 loopback, and in memory.
func serve(t testing.TB, p rpc.Program) (dial func(network string) *rpc.Client) {
	t.Helper()
	var calls rpc.Server
	if err := calls.Register(p); err != nil {
		t.Fatal(err)
	}
	transport := xprt.New(xprt.Config{Workers: 1}, &calls)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { transport.Serve(l) })
	serving.Go(func() { transport.ServePacket(pc) })
	t.Cleanup(func() {
		transport.Close()
		calls.Shutdown(context.Background())
		serving.Wait()
	})
	return func(network string) *rpc.Client {
		var conn net.Conn
		var err error
		switch network {
		case "tcp":
			conn, err = net.Dial("tcp", l.Addr().String())
		case "udp":
			conn, err = net.Dial("udp", pc.LocalAddr().String())
		default:
			inside, outside := xprt.Pipe()
			conn = outside
			serving.Go(func() { transport.ServeConn(inside) })
		}
		if err != nil {
			t.Fatal(err)
		}
		c := rpc.NewClient(conn, rpc.ClientConfig{Retransmit: 20 * time.Millisecond, Tries: 2})
		t.Cleanup(func() { c.Close() })
		return c
	}
}

func isAuthError(err error) bool {
	_, ok := errors.AsType[*rpc.AuthError](err)
	return ok
}
