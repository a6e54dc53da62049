package zcsock

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLoopback(t *testing.T) {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	peer, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	z, err := Take(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := z.Poll(); ok || err != nil {
		t.Errorf("before the first send: %v, %v", ok, err)
	}

	text := strings.Repeat("page ", 1000)
	got := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(peer)
		got <- string(b)
	}()
	var id uint32
	for range 10 {
		if id, err = z.Send([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.WaitFor(id); err != nil {
		t.Fatal(err)
	}
	if ids, copied := z.Notified(); ids != int(id)+1 || copied != ids {
		t.Errorf("%d notified, %d copied, want %d of each", ids, copied, id+1)
	}
	z.Close()
	if <-got != strings.Repeat(text, 10) {
		t.Error("the text arrived altered")
	}
}

func TestWaitFailsOnABrokenConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	z, err := Take(c)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	peer.(*net.TCPConn).SetLinger(0)
	peer.Close()
	if n, err := z.Wait(); err == nil {
		t.Errorf("got %+v", n)
	}
}

func TestTakeWantsTCP(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, err := Take(a); err == nil {
		t.Error("took a pipe")
	}
}
