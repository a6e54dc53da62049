package xprt

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers each record with itself: as a small reply, or from lent pages if it is
// larger than 8 KiB.
type echo struct{}

func (echo) Opened(*Conn)                       {}
func (echo) Closed(*Conn)                       {}
func (echo) Place(*Conn, []byte, int) Placement { return Placement{} }
func (e echo) Record(r *Record)                 { e.Resume(r) }
func (e echo) Resume(r *Record) {
	n := len(r.Data)
	if n <= 8<<10 {
		r.SendSmall(append(r.Small(n), r.Data...))
		r.Done()
		return
	}
	run := r.Lend(n - 4)
	if run == nil {
		r.Wait()
		return
	}
	copy(run.Bytes()[:n-4], r.Data[4:])
	r.SendRun(run, r.Data[:4], n-4)
	r.Done()
}

func writeRecord(w io.Writer, b []byte) error {
	var mark [4]byte
	binary.BigEndian.PutUint32(mark[:], uint32(len(b))|1<<31)
	if _, err := w.Write(mark[:]); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

func readRecord(t testing.TB, r io.Reader) []byte {
	t.Helper()
	var mark [4]byte
	if _, err := io.ReadFull(r, mark[:]); err != nil {
		t.Fatal(err)
	}
	n := binary.BigEndian.Uint32(mark[:])
	if n>>31 == 0 {
		t.Fatal("a reply in fragments")
	}
	b := make([]byte, n&^(1<<31))
	if _, err := io.ReadFull(r, b); err != nil {
		t.Fatal(err)
	}
	return b
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

func TestEchoPipe(t *testing.T) {
	tr := New(Config{}, echo{})
	server, client := Pipe()
	served := make(chan error)
	go func() { served <- tr.ServeConn(server) }()
	for _, n := range []int{1, 4, 100, 4092, 4096, 4097, 8000, 9000, 65536, 65540, 100000, 1 << 20} {
		b := pattern(n)
		go writeRecord(client, b)
		if got := readRecord(t, client); !bytes.Equal(got[:n], b) {
			t.Fatalf("%d bytes came back otherwise", n)
		}
	}
	client.Close()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if err := tr.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range tr.Stats().Pools {
		if s.Lent+s.InFlight+s.Detached != 0 {
			t.Errorf("%+v", s)
		}
	}
}

func TestEchoTCP(t *testing.T) {
	tr := New(Config{}, echo{})
	l, err := Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- tr.Serve(l) }()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 4, 100, 4092, 4096, 4097, 8000, 9000, 65536, 65540, 100000, 1 << 20} {
		b := pattern(n)
		go writeRecord(client, b)
		if got := readRecord(t, client); !bytes.Equal(got[:n], b) {
			t.Fatalf("%d bytes came back otherwise", n)
		}
	}
	client.Close()
	if err := tr.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != ErrClosed {
		t.Fatal(err)
	}
}
