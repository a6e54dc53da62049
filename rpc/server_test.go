package rpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"eddy.example/bufpool"
	"eddy.example/rpc/xdr"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

var background = context.Background()

func TestRegister(t *testing.T) {
	s := new(Server)
	program := func(low, high uint32) *toy { p := newToy(); p.low, p.high = low, high; return p }
	for _, test := range []struct {
		low, high uint32
		ok        bool
	}{
		{3, 4, true}, {4, 5, false}, {1, 3, false}, {3, 3, false}, {1, 9, false}, {1, 2, true}, {7, 7, true}, {9, 8, false},
	} {
		if err := s.Register(program(test.low, test.high)); (err == nil) != test.ok {
			t.Errorf("versions %d to %d: %v", test.low, test.high, err)
		}
	}
}

func TestNoPrograms(t *testing.T) {
	if err := serve(t, new(Server)).client().Call(background, 1, 1, 1, nil, nil, nil); !errors.Is(err, ErrProgUnavail) {
		t.Error(err)
	}
}

// TestNoise is about messages that are no calls: a stream that brings one ends,
// a reply is ignored.
func TestNoise(t *testing.T) {
	w := serve(t, new(Server), newToy())
	for _, message := range [][]byte{{1}, {0, 0, 0, 1}, {0, 0, 0, 1, 0, 0, 0, 2}, []byte("GET / HTTP/1.1\r\n\r\n")} {
		c := w.dial(w.listen())
		send(t, c, message)
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("%q was answered", message)
		}
	}
	c := w.pipe()
	send(t, c, appendAccepted(nil, 1, SUCCESS))
	if got := exchange(t, c, callBytes(2, toyProg, 2, 0)); binary.BigEndian.Uint32(got) != 2 {
		t.Errorf("answer to XID %x", got[:4])
	}
}

func TestFragmentedCall(t *testing.T) {
	c := serve(t, new(Server), newToy()).pipe()
	args := bytes.Repeat([]byte("abcdefg."), 1000)
	c.Write(fragments(callBytes(1, toyProg, 2, procEcho, args...), []int{1, 0, 3, 30, 4000}))
	if got := receive(t, c)[replyHead:]; !bytes.Equal(got, args) {
		t.Errorf("%d bytes of results", len(got))
	}
}

func TestResultsOfAnySize(t *testing.T) {
	p := newToy().add(2, Proc{}, func(c *Call) error {
		n, _, _ := xdr.ConsumeUint32(c.Args)
		b := c.Results(16) // on purpose too few
		for range n {
			b = append(b, byte(n))
		}
		c.Reply(b)
		return nil
	})
	c := serve(t, new(Server), p).pipe()
	for _, n := range []uint32{0, 4, 16, 20, keptReply - replyHead, keptReply, batchedReply - replyHead, batchedReply, 64 << 10, 1<<20 - replyHead} {
		echoed := bytes.Repeat([]byte{1, 2, 3, 4}, int(n)/4)
		if got := exchange(t, c, callBytes(n, toyProg, 2, procEcho, echoed...))[replyHead:]; !bytes.Equal(got, echoed) {
			t.Errorf("%d bytes: %d echoed", n, len(got))
		}
		got := exchange(t, c, callBytes(n, toyProg, 2, 2, word(n).AppendXDR(nil)...))
		want := append(appendAccepted(nil, n, SUCCESS), bytes.Repeat([]byte{byte(n)}, int(n))...)
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes, grown beyond their room: %d", n, len(got))
		}
	}
}

// reader is a procedure that returns as many bytes as asked for, in pages.
func reader(head int) func(*Call) error {
	return func(c *Call) error {
		n, _, err := xdr.ConsumeUint32(c.Args)
		if err != nil {
			return ErrGarbageArgs
		}
		p, err := c.Pages(int(n))
		if err != nil {
			return err
		}
		if uintptr(unsafe.Pointer(unsafe.SliceData(p)))%bufpool.PageSize != 0 || cap(p) < len(p)+bufpool.PageSize {
			return errors.New("pages are not page aligned or have no slack")
		}
		for i := range p {
			p[i] = byte(i)
		}
		b := c.Results(head)
		for i := range head - 4 {
			b = append(b, byte(i))
		}
		c.ReplyPages(xdr.AppendUint32(b, n), len(p))
		return nil
	}
}

func wantRead(xid, n uint32, head int) []byte {
	want := appendAccepted(nil, xid, SUCCESS)
	for i := range head - 4 {
		want = append(want, byte(i))
	}
	want = xdr.AppendUint32(want, n)
	for i := range n {
		want = append(want, byte(i))
	}
	return append(want, zeros[:-n&3]...)
}

func TestPages(t *testing.T) {
	p := newToy().add(2, Proc{}, reader(4)).add(3, Proc{}, reader(104)).add(4, Proc{}, func(c *Call) error {
		if !c.MayWait {
			if len(c.Args) > 0 { // a reader that asks for pages beforehand
				if _, err := c.Pages(100); err != nil {
					return err
				}
			}
			return ErrWouldBlock
		}
		return reader(8)(&Call{})
	})
	p.procs[4].serve = func(c *Call) error {
		switch {
		case c.MayWait:
			c.Args = word(5000).AppendXDR(nil)
			return reader(8)(c)
		case c.Vers == 3: // lent beforehand, too small
			if _, err := c.Pages(100); err != nil {
				return err
			}
		case c.Vers == 4:
			if _, err := c.Pages(5000); err != nil {
				return err
			}
		}
		return ErrWouldBlock
	}
	w := serve(t, new(Server), p)
	c := w.pipe()
	for _, n := range []uint32{1, 2, 3, 4, 511, 4095, 4096, 4097, 47008, 65536, 1 << 20} {
		if got := exchange(t, c, callBytes(n, toyProg, 2, 2, word(n).AppendXDR(nil)...)); !bytes.Equal(got, wantRead(n, n, 4)) {
			t.Errorf("%d bytes: %d", n, len(got))
		}
		if got := exchange(t, c, callBytes(n, toyProg, 2, 3, word(n).AppendXDR(nil)...)); !bytes.Equal(got, wantRead(n, n, 104)) {
			t.Errorf("%d bytes behind a head: %d", n, len(got))
		}
	}
	for vers := uint32(2); vers <= 4; vers++ {
		if got := exchange(t, c, callBytes(vers, toyProg, vers, 4)); !bytes.Equal(got, wantRead(vers, 5000, 8)) {
			t.Errorf("off the event loop, version %d: %d bytes", vers, len(got))
		}
	}
}

// TestPagesComeBack lends pages to calls that make no use of them.
func TestPagesComeBack(t *testing.T) {
	p := newToy()
	lend := func(then func(c *Call) error) func(*Call) error {
		return func(c *Call) error {
			if _, err := c.Pages(1 << 20); err != nil {
				return err
			}
			return then(c)
		}
	}
	p.add(2, Proc{}, lend(echo))
	p.add(3, Proc{}, lend(func(*Call) error { return ErrSystem }))
	p.add(4, Proc{}, lend(func(*Call) error { panic("with pages") }))
	p.add(5, Proc{}, lend(func(c *Call) error { c.ReplyPages(nil, 100); return ErrGarbageArgs }))
	p.add(6, Proc{}, lend(func(c *Call) error {
		if !c.MayWait {
			return ErrWouldBlock
		}
		return ErrDrop
	}))
	p.add(7, Proc{}, lend(func(c *Call) error { _, err := c.Pages(4096); c.ReplyPages(nil, 8); return err }))
	w := serve(t, new(Server), p)
	c := w.pipe()
	for i := range uint32(200) {
		if proc := 2 + i%6; proc == 6 {
			send(t, c, callBytes(i, toyProg, 2, proc))
		} else {
			exchange(t, c, callBytes(i, toyProg, 2, proc))
		}
	}
}

type owner struct{ released atomic.Int32 }

func (o *owner) Release() { o.released.Add(1) }

func TestSegments(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := io.WriteString(file, "0123456789"); err != nil {
		t.Fatal(err)
	}
	var sent, unsent owner
	p := newToy().add(2, Proc{}, func(c *Call) error {
		c.ReplySegments(append(c.Results(4), "head"...),
			bufpool.Segment{Mem: []byte("memory"), Owner: &sent},
			bufpool.Segment{File: file, Off: 2, Len: 5, Owner: &sent})
		return nil
	}).add(3, Proc{}, func(c *Call) error {
		c.ReplySegments(nil, bufpool.Segment{Mem: []byte("memory"), Owner: &unsent})
		return ErrSystem
	})
	w := serve(t, new(Server), p)
	c := w.pipe()
	want := append(appendAccepted(nil, 1, SUCCESS), "headmemory23456\x00"...)
	if got := exchange(t, c, callBytes(1, toyProg, 2, 2)); !bytes.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	exchange(t, c, callBytes(2, toyProg, 2, 3))
	w.transport.Close()
	if sent.released.Load() != 2 || unsent.released.Load() != 1 {
		t.Errorf("released %d of 2 that were sent, %d of 1 that was not", sent.released.Load(), unsent.released.Load())
	}
}

// TestPlace sends WRITEs as long as a page and more, and looks where the
// payload lies.
func TestPlace(t *testing.T) {
	const head = 4 + 8 + 4 // a word, the offset, the payload's length
	p := newToy()
	p.place = func(h *Header, args []byte) (int, uint64, bool) {
		if h.Prog != toyProg || h.Proc != procWrite || len(args) < head {
			panic("asked about something else")
		}
		return head, binary.BigEndian.Uint64(args[4:]), true
	}
	p.add(procWrite, Proc{}, func(c *Call) error {
		payload := c.Args[head:]
		c.Reply(xdr.AppendUint32(c.Results(8), crc32.ChecksumIEEE(payload)))
		if at := uint64(uintptr(unsafe.Pointer(&payload[0]))); (at-binary.BigEndian.Uint64(c.Args[4:]))%bufpool.PageSize != 0 {
			return errors.New("payload lies elsewhere")
		}
		return nil
	})
	w := serve(t, new(Server), p)
	c := clientOver(t, w.dial(w.listen()))
	user := &Cred{Flavor: AUTH_SYS, Machine: []byte("krypton"), GIDs: []uint32{1, 2, 3}}
	for i, n := range []int{65536, 1 << 20, 47008, 131072} {
		payload := bytes.Repeat([]byte{byte(i), 2, 3}, n)[:n]
		for _, offset := range []uint64{0, 1, 4095, 47008, 1 << 40} {
			var sum word
			if err := c.CallSend(background, toyProg, 2, procWrite, user, writeArgs{offset}, payload, &sum); err != nil || uint32(sum) != crc32.ChecksumIEEE(payload) {
				t.Errorf("%d bytes at %d: checksum %x, %v", n, offset, sum, err)
			}
		}
	}
}

type writeArgs struct{ offset uint64 }

func (w writeArgs) AppendXDRHead(b []byte, n uint32) []byte {
	return xdr.AppendUint32(xdr.AppendUint64(xdr.AppendUint32(b, 0), w.offset), n)
}

// TestPlaceIsAHint has a program that fails in Place, and one that has no
// place.
func TestPlaceIsAHint(t *testing.T) {
	for _, place := range []func(*Header, []byte) (int, uint64, bool){
		func(*Header, []byte) (int, uint64, bool) { panic("in Place") },
		func(*Header, []byte) (int, uint64, bool) { return 0, 0, false },
		func(*Header, []byte) (int, uint64, bool) { return -1000, 1, true },
		func(*Header, []byte) (int, uint64, bool) { return 1 << 30, 1, true },
	} {
		p := newToy()
		p.place = place
		c := serve(t, new(Server), p).client()
		args, got := opaque(bytes.Repeat([]byte("x"), 200_000)), opaque(nil)
		if err := c.Call(background, toyProg, 2, procEcho, nil, args, &got); err != nil || !bytes.Equal(args, got) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
}

func TestPanic(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	p := newToy().add(procPanic, Proc{}, func(c *Call) error {
		if !c.MayWait && c.Vers == 3 {
			return ErrWouldBlock
		}
		if c.Vers == 4 {
			c.Reply(nil)
		}
		panic("at the disco")
	})
	s := &Server{Log: zap.New(core)}
	c := serve(t, s, p).client()
	for vers := uint32(2); vers <= 4; vers++ {
		if err := c.Call(background, toyProg, vers, procPanic, nil, nil, nil); !errors.Is(err, ErrSystem) {
			t.Errorf("version %d: %v", vers, err)
		}
		entries := logs.TakeAll()
		if len(entries) != 1 || entries[0].ContextMap()["panic"] != "at the disco" ||
			!strings.Contains(entries[0].ContextMap()["stack"].(string), "TestPanic") {
			t.Errorf("version %d: log %v", vers, entries)
		}
	}
	if err := c.Call(background, toyProg, 2, procEcho, nil, nil, nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestRepliesTwice(t *testing.T) {
	p := newToy().add(2, Proc{}, func(c *Call) error { c.Reply(nil); c.Reply(nil); return nil })
	if err := serve(t, new(Server), p).client().Call(background, toyProg, 2, 2, nil, nil, nil); !errors.Is(err, ErrSystem) {
		t.Error(err)
	}
}

func TestErrorsAreLogged(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	var result error
	p := newToy().add(2, Proc{}, func(*Call) error { return result })
	c := serve(t, &Server{Log: zap.New(core)}, p).client()
	for _, test := range []struct {
		err  error
		logs int
	}{
		{errors.New("broken"), 1}, {ErrSystem, 0}, {ErrGarbageArgs, 0}, {ErrTooWeak, 0}, {nil, 1},
	} {
		result = test.err
		if err := c.Call(background, toyProg, 2, 2, nil, nil, nil); err == nil {
			t.Errorf("%v: no error", test.err)
		}
		if n := len(logs.TakeAll()); n != test.logs {
			t.Errorf("%v: %d log entries, want %d", test.err, n, test.logs)
		}
	}
}

func TestAdmit(t *testing.T) {
	s := &Server{Admit: func(c *Call) error {
		if c.Cred.UID == 1 {
			return ErrTooWeak
		}
		return nil
	}}
	c := serve(t, s, newToy()).client()
	turnedAway, other := &Cred{Flavor: AUTH_SYS, UID: 1}, &Cred{Flavor: AUTH_SYS, UID: 2}
	if err := c.Call(background, toyProg, 2, procEcho, turnedAway, nil, nil); !errors.Is(err, ErrTooWeak) {
		t.Errorf("user 1: %v", err)
	}
	if err := c.Call(background, toyProg, 2, procEcho, other, nil, nil); err != nil {
		t.Errorf("user 2: %v", err)
	}
	if err := c.Call(background, toyProg, 2, 0, turnedAway, nil, nil); err != nil {
		t.Errorf("NULL: %v", err)
	}
}

// tally is an Observer that counts.
type tally struct {
	t     testing.TB
	begun atomic.Int64
	ended [StatusDropped + 1]atomic.Int64
}

func (o *tally) Begin(h *Call) int64 { return o.begun.Add(1) | int64(h.Proc)<<32 }

func (o *tally) End(h *Call, token int64, s Status) {
	if uint32(token>>32) != h.Proc {
		o.t.Errorf("End of procedure %d has the token of %d", h.Proc, token>>32)
	}
	o.ended[s].Add(1)
}

func TestObserver(t *testing.T) {
	o := &tally{t: t}
	p := newToy()
	results := map[uint32]error{
		10: ErrSystem, 11: ErrGarbageArgs, 12: ErrProcUnavail, 13: ErrProgUnavail, 14: ErrTooWeak,
		15: &MismatchError{Err: ErrProgMismatch}, 16: &MismatchError{Err: ErrRPCMismatch},
	}
	for proc, err := range results {
		p.add(proc, Proc{}, func(*Call) error { return err })
	}
	p.add(20, Proc{Cached: true}, func(c *Call) error { return echo(c) })
	p.add(21, Proc{}, func(c *Call) error { return ErrDrop })
	w := serve(t, &Server{Observer: o}, p)
	c := w.pipe()
	send(t, c, callBytes(1, toyProg, 2, 21))
	for _, proc := range []uint32{0, procEcho, 10, 11, 12, 13, 14, 15, 16, 20, 20} {
		exchange(t, c, callBytes(1, toyProg, 2, proc))
	}
	w.transport.Close()
	if n := o.begun.Load(); n != 12 {
		t.Errorf("%d calls have begun", n)
	}
	for s := range o.ended {
		want := int64(1)
		if Status(s) == StatusSuccess {
			want = 3
		}
		if n := o.ended[s].Load(); n != want {
			t.Errorf("status %d: %d calls, want %d", s, n, want)
		}
	}
}

// A program that has spoilt its goroutine's thread ends both. One waiting
// goroutine is all there is here, and the next call gets another.
func TestGoexit(t *testing.T) {
	p := newToy().add(procPanic, Proc{}, func(c *Call) error {
		if !c.MayWait {
			return ErrWouldBlock
		}
		runtime.Goexit()
		return nil
	})
	c := serve(t, &Server{Waiters: 1}, p).client()
	for range 3 {
		if err := c.Call(background, toyProg, 2, procPanic, nil, nil, nil); !errors.Is(err, ErrSystem) {
			t.Error(err)
		}
	}
}
