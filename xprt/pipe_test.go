package xprt

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPipeBytes(t *testing.T) {
	a, b := Pipe()
	data := pattern(3 << 20)
	var writing sync.WaitGroup
	writing.Go(func() {
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 1+rand.IntN(400_000))
			if k, err := a.Write(rest[:n]); k != n || err != nil {
				t.Error(k, err)
				return
			}
			rest = rest[n:]
		}
		a.Close()
	})
	var got []byte
	for {
		p := make([]byte, 1+rand.IntN(400_000))
		n, err := b.Read(p)
		got = append(got, p[:n]...)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
	}
	writing.Wait()
	if !bytes.Equal(got, data) {
		t.Errorf("%d bytes of %d", len(got), len(data))
	}
}

func TestPipeClose(t *testing.T) {
	a, b := Pipe()
	a.Write([]byte("last words"))
	a.Close()
	p := make([]byte, 100)
	if n, err := b.Read(p); string(p[:n]) != "last words" || err != nil {
		t.Errorf("%q, %v", p[:n], err)
	}
	if _, err := b.Read(p); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if _, err := b.Write(p); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if _, err := a.Read(p); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if _, err := a.Write(p); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// TestPipeCloseWakes closes the pipe under a reader and a writer that wait.
func TestPipeCloseWakes(t *testing.T) {
	for _, closer := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			a, b := Pipe()
			var waiting sync.WaitGroup
			waiting.Go(func() {
				if n, err := a.Write(make([]byte, 2*pipeSize)); n != pipeSize || !errors.Is(err, io.ErrClosedPipe) {
					t.Error(n, err)
				}
			})
			waiting.Go(func() {
				want := io.ErrClosedPipe
				if closer == 1 {
					want = io.EOF
				}
				if n, err := a.Read(make([]byte, 1)); n != 0 || !errors.Is(err, want) {
					t.Error(n, err)
				}
			})
			synctest.Wait()
			if closer == 0 {
				a.Close()
			} else {
				b.Close()
			}
			waiting.Wait()
		})
	}
}

func TestPipeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe()
		began := time.Now()
		a.SetReadDeadline(began.Add(time.Second))
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		if time.Since(began) != time.Second {
			t.Error(time.Since(began))
		}
		a.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := a.Write(make([]byte, 2*pipeSize)); n != pipeSize || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(n, err)
		}
		// One that has passed fails at once; none, or one to come, lets go on.
		a.SetDeadline(time.Now().Add(-1))
		if _, err := a.Write([]byte{1}); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
		if _, err := io.ReadFull(b, make([]byte, pipeSize)); err != nil {
			t.Error(err)
		}
		for _, d := range []time.Time{{}, time.Now().Add(time.Hour)} {
			a.SetDeadline(d)
			if _, err := a.Write([]byte{1}); err != nil {
				t.Error(err)
			}
		}
		// A deadline that was replaced never comes.
		b.SetReadDeadline(time.Now().Add(time.Second))
		b.SetReadDeadline(time.Now().Add(time.Minute))
		b.Read(make([]byte, 2))
		go func() {
			time.Sleep(30 * time.Second)
			a.Write([]byte{1})
		}()
		if _, err := b.Read(make([]byte, 1)); err != nil {
			t.Error(err)
		}
		a.Close()
		b.Close()
	})
}
