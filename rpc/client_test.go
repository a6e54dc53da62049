package rpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"eddy.example/rpc/xdr"
	"eddy.example/xprt"
	"pgregory.net/rapid"
)

// scripted returns a client whose server is the test.
func scripted(t testing.TB, config ClientConfig) (*Client, net.Conn) {
	server, conn := xprt.Pipe()
	c := NewClient(conn, config)
	t.Cleanup(func() {
		server.Close()
		c.Close()
	})
	return c, server
}

// start begins a call and returns where its error will be.
func start(call func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	return done
}

// readResult is results like those of READ: a word, then the payload.
type readResult struct{ word uint32 }

func (r *readResult) ConsumeXDRHead(b []byte) (n uint32, rest []byte, err error) {
	if r.word, b, err = xdr.ConsumeUint32(b); err != nil {
		return 0, nil, err
	}
	return xdr.ConsumeLen(b, xdr.Unbounded)
}

// TestCallOnTheWire holds calls against bytes written by hand.
func TestCallOnTheWire(t *testing.T) {
	c, server := scripted(t, ClientConfig{})
	user := &Cred{Flavor: AUTH_SYS, Stamp: 1, Machine: []byte("abc"), UID: 2, GID: 3, GIDs: []uint32{4}}
	for _, test := range []struct {
		name string
		call func() error
		want string // without mark and XID
	}{
		{"nothing", func() error { return c.Call(background, 0x20000099, 3, 0, nil, nil, nil) },
			"00000000 00000002 20000099 00000003 00000000 00000000 00000000 00000000 00000000"},
		{"AUTH_SYS and arguments", func() error { return c.Call(background, 0x20000099, 3, 4, user, opaque("hi"), nil) },
			`00000000 00000002 20000099 00000003 00000004
			00000001 0000001c 00000001 00000003 61626300 00000002 00000003 00000001 00000004
			00000000 00000000 00000002 68690000`},
		{"payload", func() error {
			return c.CallSend(background, 0x20000099, 3, 4, nil, opaque("hi"), []byte("abcde"), nil)
		},
			`00000000 00000002 20000099 00000003 00000004 00000000 00000000 00000000 00000000
			00000002 68690000 00000005 61626364 65000000`},
	} {
		done := start(test.call)
		got := receive(t, server)
		if want := hexBytes(t, test.want); !bytes.Equal(got[4:], want) {
			t.Errorf("%s: call %x, want %x", test.name, got[4:], want)
		}
		send(t, server, appendAccepted(nil, binary.BigEndian.Uint32(got), SUCCESS))
		if err := <-done; err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestReplyErrors answers calls with every reply there is, and with what is
// none.
func TestReplyErrors(t *testing.T) {
	c, server := scripted(t, ClientConfig{})
	const accepted, denied = "00000001 00000000 00000000 00000000", "00000001 00000001"
	for _, test := range []struct {
		name, reply string // behind the XID
		want        error
	}{
		{"success", accepted + "00000000 00000007", nil},
		{"a verifier", "00000001 00000000 00000002 00000005 61626364 65000000 00000000 00000007", nil},
		{"bytes behind the results", accepted + "00000000 00000007 00000008", nil},
		{"PROG_UNAVAIL", accepted + "00000001", ErrProgUnavail},
		{"PROG_MISMATCH", accepted + "00000002 00000003 00000004", ErrProgMismatch},
		{"PROC_UNAVAIL", accepted + "00000003", ErrProcUnavail},
		{"GARBAGE_ARGS", accepted + "00000004", ErrGarbageArgs},
		{"SYSTEM_ERR", accepted + "00000005", ErrSystem},
		{"another accept_stat", accepted + "00000006", ErrBadReply},
		{"RPC_MISMATCH", denied + "00000000 00000002 00000002", ErrRPCMismatch},
		{"AUTH_TOOWEAK", denied + "00000001 00000005", ErrTooWeak},
		{"AUTH_BADCRED", denied + "00000001 00000001", &AuthError{AUTH_BADCRED}},
		{"an auth_stat from elsewhere", denied + "00000001 00000099", &AuthError{0x99}},
		{"another reject_stat", denied + "00000002", ErrBadReply},
		{"another reply_stat", "00000001 00000002", ErrBadReply},
		{"nothing", "00000001", ErrBadReply},
		{"no verifier", "00000001 00000000", ErrBadReply},
		{"a verifier of 401 bytes", "00000001 00000000 00000000 00000191" + fmt.Sprintf("%0816x", 0), ErrBadReply},
		{"no accept_stat", accepted, ErrBadReply},
		{"no range", accepted + "00000002 00000003", ErrBadReply},
		{"no auth_stat", denied + "00000001", ErrBadReply},
		{"no results", accepted + "00000000", xdr.ErrShort},
		{"no results", accepted + "00000000", ErrBadReply},
	} {
		var got word
		done := start(func() error { return c.Call(background, 1, 2, 3, nil, nil, &got) })
		xid := receive(t, server)[:4]
		send(t, server, append(xid, hexBytes(t, test.reply)...))
		err := <-done
		if !errors.Is(err, test.want) || err == nil && got != 7 {
			t.Errorf("%s: result %d, %v, want %v", test.name, got, err, test.want)
		}
		var mismatch *MismatchError
		if errors.As(err, &mismatch) && (mismatch.Low < 2 || mismatch.High < mismatch.Low) {
			t.Errorf("%s: range %d to %d", test.name, mismatch.Low, mismatch.High)
		}
	}
}

// TestRepliesForNobody sends replies and calls that the client has not asked
// for.
func TestRepliesForNobody(t *testing.T) {
	c, server := scripted(t, ClientConfig{})
	done := start(func() error { return c.Call(background, 1, 2, 3, nil, nil, nil) })
	xid := binary.BigEndian.Uint32(receive(t, server))
	for _, message := range [][]byte{
		nil, {1}, make([]byte, 100_000), appendAccepted(nil, xid+1, SYSTEM_ERR), callBytes(xid, 1, 2, 3),
		appendAccepted(nil, xid, SUCCESS), appendAccepted(nil, xid, SYSTEM_ERR),
	} {
		send(t, server, message)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRepliesInAnyOrder(t *testing.T) {
	c, server := scripted(t, ClientConfig{})
	const n = 100
	var calls sync.WaitGroup
	for i := range uint32(n) {
		calls.Go(func() {
			var got word
			if err := c.Call(background, 1, 2, i, nil, nil, &got); err != nil || uint32(got) != i {
				t.Errorf("call %d: result %d, %v", i, got, err)
			}
		})
	}
	var answers [][]byte
	for range n {
		m := receive(t, server)
		answers = append(answers, append(appendAccepted(nil, binary.BigEndian.Uint32(m), SUCCESS), m[20:24]...))
	}
	for i := range answers {
		send(t, server, answers[(i*37+11)%n])
	}
	calls.Wait()
}

// TestResultsOnTheWire sends results in any fragmentation, for results that are
// decoded and for payloads.
func TestResultsOnTheWire(t *testing.T) {
	c, server := scripted(t, ClientConfig{})
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 600), rapid.IntRange(0, 40_000)).Draw(rt, "size")
		payload := bytes.Repeat([]byte("0123456789a"), n/11+1)[:n]
		room := n
		if rapid.IntRange(0, 3).Draw(rt, "short room") == 0 {
			room = rapid.IntRange(0, n).Draw(rt, "room")
		}
		into := bytes.Repeat([]byte{0xee}, room+8)
		asPayload := rapid.Bool().Draw(rt, "payload")
		var data opaque
		var res readResult
		var got int
		done := start(func() (err error) {
			if asPayload {
				got, err = c.CallReceive(background, 1, 2, 3, nil, nil, &res, into[:room])
				return err
			}
			return c.Call(background, 1, 2, 3, nil, nil, &data)
		})
		reply := appendAccepted(nil, binary.BigEndian.Uint32(receive(t, server)), SUCCESS)
		if asPayload {
			reply = xdr.AppendUint32(reply, 0xabcd)
		}
		reply = xdr.AppendOpaque(reply, payload)
		for _, size := range rapid.SliceOfN(rapid.IntRange(0, 5000), 0, 5).Draw(rt, "tail") {
			reply = append(reply, make([]byte, size/100)...)
		}
		server.Write(fragments(reply, rapid.SliceOfN(rapid.IntRange(0, 6000), 0, 6).Draw(rt, "fragments")))
		err := <-done
		switch {
		case !asPayload:
			if err != nil || !bytes.Equal(data, payload) {
				rt.Fatalf("%d of %d bytes, %v", len(data), n, err)
			}
		case room < n:
			if !errors.Is(err, ErrBadReply) || got != 0 {
				rt.Fatalf("%d of %d bytes into %d, %v", got, n, room, err)
			}
		case err != nil || got != n || !bytes.Equal(into[:n], payload) || res.word != 0xabcd:
			rt.Fatalf("%d of %d bytes, %v", got, n, err)
		}
		if !bytes.Equal(into[room:], bytes.Repeat([]byte{0xee}, 8)) {
			rt.Fatal("written behind the end")
		}
	})
}

func TestPayloadShorterThanAnnounced(t *testing.T) {
	c, server := scripted(t, ClientConfig{})
	for range 2 { // the connection survives it
		done := start(func() error {
			_, err := c.CallReceive(background, 1, 2, 3, nil, nil, new(readResult), make([]byte, 100))
			return err
		})
		reply := appendAccepted(nil, binary.BigEndian.Uint32(receive(t, server)), SUCCESS)
		send(t, server, append(reply, 0, 0, 0, 0, 0, 0, 0, 50, 1, 2, 3))
		if err := <-done; !errors.Is(err, ErrBadReply) {
			t.Error(err)
		}
	}
}

func TestConnectionErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(net.Conn)
		want error
	}{
		{"closed", func(c net.Conn) { c.Close() }, io.EOF},
		{"closed within a mark", func(c net.Conn) { c.Write([]byte{0x80}); c.Close() }, io.EOF},
		{"closed within a record", func(c net.Conn) { c.Write([]byte{0x80, 0, 1, 0, 1, 2, 3}); c.Close() }, io.EOF},
		{"record too long", func(c net.Conn) { c.Write([]byte{0x80, 0, 0x40, 1}) }, errRecordTooLong},
		{"HTTP", func(c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, errRecordTooLong},
	} {
		c, server := scripted(t, ClientConfig{MaxReply: 1 << 14})
		var calls []<-chan error
		for range 3 {
			calls = append(calls, start(func() error { return c.Call(background, 1, 2, 3, nil, nil, nil) }))
			receive(t, server)
		}
		test.end(server)
		for _, done := range calls {
			if err := <-done; !errors.Is(err, ErrConnection) || !errors.Is(err, test.want) {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		if err := c.Call(background, 1, 2, 3, nil, nil, nil); !errors.Is(err, ErrConnection) {
			t.Errorf("%s: next call: %v", test.name, err)
		}
	}
}

func TestClose(t *testing.T) {
	c, server := scripted(t, ClientConfig{})
	done := start(func() error { return c.Call(background, 1, 2, 3, nil, nil, nil) })
	receive(t, server)
	for range 2 {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := <-done; err != ErrClosed {
		t.Errorf("call on its way: %v", err)
	}
	if err := c.Call(background, 1, 2, 3, nil, nil, nil); err != ErrClosed {
		t.Errorf("next call: %v", err)
	}
}

// TestManyCallers calls from many goroutines over every kind of connection.
func TestManyCallers(t *testing.T) {
	p := newToy()
	p.add(procRead, Proc{}, reader(8))
	p.add(procWrite, Proc{}, func(c *Call) error {
		b, _, err := xdr.ConsumeOpaque(c.Args, 1<<20)
		if err != nil {
			return ErrGarbageArgs
		}
		c.Reply(xdr.AppendOpaque(c.Results(len(b)+8), b[len(b)/2:]))
		return nil
	})
	blocker(p)
	w := serve(t, new(Server), p)
	for name, conn := range map[string]net.Conn{"pipe": w.pipe(), "TCP": w.dial(w.listen())} {
		t.Run(name, func(t *testing.T) {
			c := clientOver(t, conn)
			var callers sync.WaitGroup
			for i := range 16 {
				callers.Go(func() {
					into := make([]byte, 70_000)
					for j := range 60 {
						n := (i*1000 + j*977) % len(into)
						switch j % 4 {
						case 0:
							var got opaque
							if err := c.Call(background, toyProg, 2, procEcho, nil, opaque(into[:n]), &got); err != nil || !bytes.Equal(got, into[:n]) {
								t.Errorf("ECHO of %d bytes: %d, %v", n, len(got), err)
							}
						case 1:
							n = max(n, 1)
							var res readResult
							got, err := c.CallReceive(background, toyProg, 2, procRead, nil, word(n), &res, into)
							if err != nil || got != n || into[n-1] != byte(n-1) {
								t.Errorf("READ of %d bytes: %d, %v", n, got, err)
							}
						case 2:
							payload := bytes.Repeat([]byte{byte(j)}, n)
							var got opaque
							err := c.CallSend(background, toyProg, 2, procWrite, nil, nothing{}, payload, &got)
							if err != nil || !bytes.Equal(got, payload[n/2:]) {
								t.Errorf("WRITE of %d bytes: %v", n, err)
							}
						case 3:
							if err := c.Call(background, toyProg, 2, procSilent, nil, nil, nil); err != nil {
								t.Errorf("a call that waits: %v", err)
							}
						}
					}
				})
			}
			callers.Wait()
		})
	}
}

// nothing is arguments that consist of the payload.
type nothing struct{}

func (nothing) AppendXDRHead(b []byte, n uint32) []byte { return xdr.AppendUint32(b, n) }

func TestPanicInAppender(t *testing.T) {
	c := serve(t, new(Server), newToy()).client()
	func() {
		defer func() { recover() }()
		c.Call(background, toyProg, 2, procEcho, nil, explosive{}, nil)
	}()
	if err := c.Call(background, toyProg, 2, procEcho, nil, nil, nil); err != nil {
		t.Error(err)
	}
}

type explosive struct{}

func (explosive) AppendXDR([]byte) []byte { panic("boom") }

func TestContextHasEnded(t *testing.T) {
	c, _ := scripted(t, ClientConfig{})
	ctx, cancel := context.WithCancel(background)
	cancel()
	if err := c.Call(ctx, 1, 2, 3, nil, explosive{}, nil); err != context.Canceled {
		t.Error(err)
	}
}
