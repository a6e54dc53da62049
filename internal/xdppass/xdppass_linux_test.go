package xdppass

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"

	"eddy.example/internal/netns"
	"eddy.example/internal/zcsock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns a connection between two namespaces joined by a veth pair,
// with the program on the receiver's end if wanted.
func connect(t *testing.T, withXDP bool) (receiver net.Conn, sender *zcsock.Conn) {
	t.Helper()
	a, b := netns.New(t), netns.New(t)
	netns.Join(a, "eth0", "192.0.2.1/24", b, "eth0", "192.0.2.2/24")
	if withXDP {
		Attach(t, b, "eth0")
	}
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	var l net.Listener
	err := errors.Join(
		a.Do(func() (err error) {
			l, err = lc.Listen(context.Background(), "tcp", "192.0.2.1:2049")
			return err
		}),
		b.Do(func() (err error) {
			receiver, err = new(net.Dialer).DialContext(context.Background(), "tcp", "192.0.2.1:2049")
			return err
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Cleanup(func() { receiver.Close() })
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	sender, err = zcsock.Take(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sender.Close() })
	return receiver, sender
}

func fill(b []byte, generation int) {
	for i := 0; i+8 <= len(b); i += 8 {
		binary.BigEndian.PutUint64(b[i:], uint64(generation)<<32|uint64(i))
	}
}

func TestOnlyTheProgramAvoidsTheCopy(t *testing.T) {
	const texts, size = 16, 256 << 10
	for _, withXDP := range []bool{false, true} {
		receiver, sender := connect(t, withXDP)
		unaltered := make(chan int, 1)
		go func() {
			n := 0
			want, got := make([]byte, size), make([]byte, size)
			for i := range texts {
				fill(want, i)
				if _, err := io.ReadFull(receiver, got); err == nil && bytes.Equal(got, want) {
					n++
				}
			}
			unaltered <- n
		}()
		page := make([]byte, size)
		for i := range texts {
			fill(page, i)
			id, err := sender.Send(page)
			if err != nil {
				t.Fatal(err)
			}
			if err := sender.WaitFor(id); err != nil {
				t.Fatal(err)
			}
		}
		if n := <-unaltered; n != texts {
			t.Errorf("with XDP %v: %d texts of %d arrived unaltered", withXDP, n, texts)
		}
		sends, copied := sender.Notified()
		if want := map[bool]int{false: sends, true: 0}[withXDP]; copied != want {
			t.Errorf("with XDP %v: %d of %d sends were copied, want %d", withXDP, copied, sends, want)
		}
	}
}

// The receiver's window takes a part of the page, the rest waits in the send
// queue and is read from the page when the receiver starts reading.
func TestReuseBeforeTheNotificationIsSeen(t *testing.T) {
	receiver, sender := connect(t, true)
	page := make([]byte, 1<<20)
	if err := sender.SetSendBuffer(4 * len(page)); err != nil {
		t.Fatal(err)
	}
	fill(page, 1)
	want := bytes.Clone(page)
	if _, err := sender.Send(page); err != nil {
		t.Fatal(err)
	}
	fill(page, 2)
	got := make([]byte, len(page))
	if _, err := io.ReadFull(receiver, got); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		t.Error("the page arrived unaltered: nothing was sent from it")
	}
}
