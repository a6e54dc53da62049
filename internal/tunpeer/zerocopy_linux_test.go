package tunpeer

import (
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"

	"eddy.example/internal/zcsock"
)

// The peer vanishes while data is on its way: the kernel has sent it, even
// again, and yet holds the memory until the peer is back and has said ACK.
func TestNotificationWaitsForTheACK(t *testing.T) {
	p := New(t, Config{})
	_, server := connect(t, p)
	z := zeroCopy(t, server)

	p.Vanish()
	id, err := z.Send(make([]byte, 4096))
	if err != nil {
		t.Fatal(err)
	}
	for p.Stats().ToPeer.Vanished < 2 {
		time.Sleep(time.Millisecond)
	}
	if n, ok, err := z.Poll(); ok || err != nil {
		t.Fatalf("before the ACK: %+v, %v", n, err)
	}
	p.Heal()
	n, err := z.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if n.Lo > id || n.Hi < id || !n.Copied {
		t.Errorf("got %+v, want id %d copied", n, id)
	}
}

// Whatever the network does, a notification never comes before the ACK of the
// last byte it stands for.
func TestNotifiedIsAcknowledged(t *testing.T) {
	const sends, size = 64, 64 << 10
	p := New(t, lossy)
	peer, server := connect(t, p)
	go io.Copy(io.Discard, peer)
	z := zeroCopy(t, server)

	page := make([]byte, size)
	var ids []uint32
	complete := false
	check := func(n zcsock.Notification) {
		info, err := z.Info()
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if end := uint64(i+1) * size; n.Lo <= id && id <= n.Hi && info.Bytes_acked < end {
				t.Errorf("send %d: notified when %d bytes of %d were acknowledged", i, info.Bytes_acked, end)
			}
		}
		complete = complete || len(ids) == sends && n.Lo <= ids[sends-1] && ids[sends-1] <= n.Hi
	}
	for range sends {
		id, err := z.Send(page)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		for {
			n, ok, err := z.Poll()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			check(n)
		}
	}
	for !complete {
		n, err := z.Wait()
		if err != nil {
			t.Fatal(err)
		}
		check(n)
	}
	if all, copied := z.Notified(); copied != all {
		t.Errorf("%d of %d sends were copied, a TUN device copies all", copied, all)
	}
}

// lossy is the network of the tests that want to see pages sent twice.
var lossy = Config{AckDelay: 40 * time.Millisecond, DropOneIn: 20, Seed: 1, MTU: 16000}

// A page that is written again when send has returned, and not when the kernel
// has let go of it, is seen by the peer.
func TestReuseBeforeTheNotificationIsSeen(t *testing.T) {
	p := New(t, lossy)
	for range 20 {
		corrupt, err := stream(t, p, func(*zcsock.Conn, uint32) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if corrupt > 0 {
			return
		}
	}
	t.Error("20 runs without a corrupt page: the harness proves nothing")
}

func TestReuseAfterTheNotificationIsSafe(t *testing.T) {
	p := New(t, lossy)
	for range 2 {
		corrupt, err := stream(t, p, (*zcsock.Conn).WaitFor)
		if err != nil {
			t.Fatal(err)
		}
		if corrupt > 0 {
			t.Errorf("%d pages are corrupt", corrupt)
		}
	}
	if s := p.Stats(); s.ToPeer.Dropped == 0 || s.FromPeer.Dropped == 0 {
		t.Errorf("nothing was sent twice: %+v", s)
	}
}

// stream sends 32 texts of 64 KiB from 8 pages in turn, each written again
// when free says so, and counts those that the peer sees altered.
func stream(t *testing.T, p *Peer, free func(z *zcsock.Conn, id uint32) error) (corrupt int, err error) {
	const texts, pages, size = 32, 8, 64 << 10
	peer, server := connect(t, p)
	z := zeroCopy(t, server)
	sent := make(chan error, 1)
	go func() {
		var page [pages][]byte
		var id [pages]uint32
		for i := range texts {
			k := i % pages
			if page[k] == nil {
				page[k] = make([]byte, size)
			} else if err := free(z, id[k]); err != nil {
				sent <- err
				return
			}
			fill(page[k], i)
			var err error
			if id[k], err = z.Send(page[k]); err != nil {
				sent <- err
				return
			}
		}
		sent <- z.WaitFor(id[(texts-1)%pages])
	}()
	want, got := make([]byte, size), make([]byte, size)
	for i := range texts {
		fill(want, i)
		if _, err := io.ReadFull(peer, got); err != nil {
			return 0, fmt.Errorf("text %d: %w", i, err)
		}
		if !bytes.Equal(got, want) {
			corrupt++
		}
	}
	return corrupt, <-sent
}
