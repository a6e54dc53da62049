package rpc

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"eddy.example/rpc/xdr"
	"eddy.example/xprt"
)

// toy is a program whose procedures are given by the test.
type toy struct {
	number, low, high uint32
	procs             map[uint32]*toyProc
	place             func(h *Header, args []byte) (int, uint64, bool)
}

type toyProc struct {
	Proc
	serve func(*Call) error
}

const (
	toyProg    = 0x20000099
	procEcho   = 1
	procBlock  = 2
	procOnce   = 3
	procPanic  = 4
	procRead   = 5
	procWrite  = 6
	procFails  = 7
	procSilent = 8
)

// newToy returns a program with versions 2 to 4 and procedure procEcho, which
// returns its arguments.
func newToy() *toy {
	return &toy{number: toyProg, low: 2, high: 4, procs: map[uint32]*toyProc{
		procEcho: {Proc{Name: "ECHO", ReadOnly: true}, echo},
	}}
}

func echo(c *Call) error {
	c.Reply(append(c.Results(len(c.Args)), c.Args...))
	return nil
}

func (p *toy) add(proc uint32, desc Proc, serve func(*Call) error) *toy {
	p.procs[proc] = &toyProc{desc, serve}
	return p
}

func (p *toy) Program() (prog, low, high uint32) { return p.number, p.low, p.high }

func (p *toy) Proc(vers, proc uint32) (*Proc, bool) {
	d := p.procs[proc]
	if d == nil {
		return nil, false
	}
	return &d.Proc, true
}

func (p *toy) Place(h *Header, args []byte) (int, uint64, bool) {
	if p.place == nil {
		return 0, 0, false
	}
	return p.place(h, args)
}

func (p *toy) Serve(c *Call) error { return p.procs[c.Proc].serve(c) }

// world is a server with a transport, ended by the test's cleanup.
type world struct {
	t         testing.TB
	server    *Server
	transport *xprt.Transport
}

func serve(t testing.TB, s *Server, programs ...Program) *world {
	t.Helper()
	for _, p := range programs {
		if err := s.Register(p); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{t, s, xprt.New(xprt.Config{Workers: 2}, s)}
	t.Cleanup(func() {
		w.transport.Close()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// pipe returns a connection to the server in memory.
func (w *world) pipe() net.Conn {
	server, client := xprt.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.transport.ServeConn(server)
	}()
	w.t.Cleanup(func() {
		client.Close()
		<-done
	})
	return client
}

// listen serves TCP on a loopback address and returns it.
func (w *world) listen() string {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.transport.Serve(l)
	}()
	w.t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}

func (w *world) dial(addr string) net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

func (w *world) client() *Client { return clientOver(w.t, w.pipe()) }

func clientOver(t testing.TB, conn net.Conn) *Client {
	c := NewClient(conn, ClientConfig{})
	t.Cleanup(func() { c.Close() })
	return c
}

// opaque is variable-length opaque data as arguments or results, copied.
type opaque []byte

func (o opaque) AppendXDR(b []byte) []byte { return xdr.AppendOpaque(b, o) }

func (o *opaque) ConsumeXDR(b []byte) ([]byte, error) {
	p, rest, err := xdr.ConsumeOpaque(b, xdr.Unbounded)
	*o = append((*o)[:0], p...)
	return rest, err
}

func (o opaque) AppendXDRHead(b []byte, n uint32) []byte {
	return xdr.AppendUint32(xdr.AppendOpaque(b, o), n)
}

// word is an unsigned integer as arguments or results.
type word uint32

func (w word) AppendXDR(b []byte) []byte { return xdr.AppendUint32(b, uint32(w)) }

func (w *word) ConsumeXDR(b []byte) ([]byte, error) {
	v, rest, err := xdr.ConsumeUint32(b)
	*w = word(v)
	return rest, err
}

// callBytes is the message of a call with AUTH_NONE.
func callBytes(xid, prog, vers, proc uint32, args ...byte) []byte {
	return append((&request{prog: prog, vers: vers, proc: proc}).appendCall(nil, xid), args...)
}

func callAs(cred *Cred, xid, prog, vers, proc uint32, args ...byte) []byte {
	return append((&request{prog: prog, vers: vers, proc: proc, cred: cred}).appendCall(nil, xid), args...)
}

// send sends a record of one fragment.
func send(t testing.TB, c net.Conn, message []byte) {
	t.Helper()
	if _, err := c.Write(record(message)); err != nil {
		t.Fatal(err)
	}
}

func record(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, lastFragment|uint32(len(message))), message...)
}

// receive receives a record.
func receive(t testing.TB, c net.Conn) []byte {
	t.Helper()
	var message []byte
	for {
		var mark [4]byte
		if _, err := io.ReadFull(c, mark[:]); err != nil {
			t.Fatal(err)
		}
		n := binary.BigEndian.Uint32(mark[:])
		part := make([]byte, n&^lastFragment)
		if _, err := io.ReadFull(c, part); err != nil {
			t.Fatal(err)
		}
		if message = append(message, part...); n&lastFragment != 0 {
			return message
		}
	}
}

// exchange sends a message and receives the answer.
func exchange(t testing.TB, c net.Conn, message []byte) []byte {
	t.Helper()
	send(t, c, message)
	return receive(t, c)
}
