package rpc

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"testing/iotest"

	"eddy.example/rpc/xdr"
	"eddy.example/xprt"
)

// FuzzRPC gives bytes from anywhere to what reads them. The first byte selects
// the reader.
func FuzzRPC(f *testing.F) {
	user := &Cred{Flavor: AUTH_SYS, UID: 1, GIDs: []uint32{2, 3}, Machine: []byte("krypton")}
	calls := [][]byte{
		nil,
		callBytes(1, toyProg, 2, 0),
		callAs(user, 1, toyProg, 2, procEcho, 1, 2, 3, 4),
		callAs(user, 1, toyProg, 2, procOnce, 1, 2, 3, 4),
		callAs(user, 1, toyProg, 2, procRead, 0, 0, 0x10, 1),
		callBytes(1, toyProg, 2, procFails, 0, 0, 0, 3),
		callBytes(1, toyProg, 9, procEcho),
		callBytes(1, 9, 9, 9),
		{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3},
	}
	replies := [][]byte{
		appendAccepted(nil, 1, SUCCESS),
		xdr.AppendOpaque(appendAccepted(nil, 1, SUCCESS), []byte("results")),
		xdr.AppendOpaque(xdr.AppendUint32(appendAccepted(nil, 1, SUCCESS), 9), []byte("payload")),
		appendAccepted(nil, 1, SYSTEM_ERR),
		appendProgMismatch(nil, 1, 2, 3),
		appendRPCMismatch(nil, 1),
		appendAuthError(nil, 1, AUTH_TOOWEAK),
	}
	for _, b := range calls {
		f.Add(append([]byte{0}, b...))
		f.Add(append([]byte{1}, b...))
	}
	for _, b := range replies {
		for selector := byte(2); selector <= 4; selector++ {
			f.Add(append([]byte{selector}, record(b)...))
			f.Add(append([]byte{selector}, fragments(b, []int{3, 0, 9})...))
		}
	}

	p := newToy()
	p.add(procOnce, Proc{Cached: true}, echo)
	p.add(procRead, Proc{}, func(c *Call) error {
		if n, _, err := xdr.ConsumeUint32(c.Args); err != nil || n == 0 || n > 1<<16 {
			return ErrGarbageArgs
		}
		return reader(8)(c)
	})
	p.add(procFails, Proc{}, func(c *Call) error {
		n, _, err := xdr.ConsumeUint32(c.Args)
		switch {
		case err != nil:
			return ErrGarbageArgs
		case n == 0:
			panic("asked to")
		case !c.MayWait:
			return ErrWouldBlock
		}
		return &AuthError{AuthStat(n)}
	})
	p.place = func(h *Header, args []byte) (int, uint64, bool) {
		v, _, err := xdr.ConsumeUint64(args)
		return int(v), v, err == nil
	}
	w := serve(f, new(Server), p)

	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		switch selector := b[0]; selector {
		case 0:
			fuzzParse(t, b[1:])
		case 1:
			server, conn := xprt.Pipe()
			done := make(chan struct{})
			go func() {
				defer close(done)
				w.transport.ServeConn(server)
			}()
			fuzzDispatch(t, conn, b[1:])
			conn.Close()
			<-done
		case 2:
			fuzzClient(func(c *Client) error { return c.Call(background, 1, 2, 3, nil, nil, new(opaque)) }, b[1:])
		case 3:
			into := make([]byte, 20)
			fuzzClient(func(c *Client) error {
				n, err := c.CallReceive(background, 1, 2, 3, nil, nil, new(readResult), into[:10])
				if n > 10 || err != nil && n != 0 || !bytes.Equal(into[10:], make([]byte, 10)) {
					t.Errorf("%d bytes of payload in 10, %v", n, err)
				}
				return err
			}, b[1:])
		case 4:
			fuzzRecords(t, b[1:])
		}
	})
}

// fuzzParse parses a call: what it finds lies in b, in order.
func fuzzParse(t *testing.T, b []byte) {
	var m callMessage
	if m.parse(b) != isCall {
		return
	}
	pad := func(b []byte) int { return len(b) + -len(b)&3 }
	if n := 24 + 8 + pad(m.cred.Body) + 8 + pad(m.verf.Body) + len(m.args); n != len(b) {
		t.Errorf("%d bytes were found in %d", n, len(b))
	}
	var c Cred
	if stat := c.check(&m, new([maxGIDs]uint32)); stat != AUTH_OK {
		return
	}
	if c.Flavor == AUTH_SYS && (len(c.GIDs) > maxGIDs || len(c.Machine) > maxMachine) {
		t.Errorf("%d groups, machine name of %d bytes", len(c.GIDs), len(c.Machine))
	}
}

// fuzzDispatch sends a message to a server: whatever it is, the server answers
// the next call, or has closed the connection because it was no call.
func fuzzDispatch(t *testing.T, conn net.Conn, b []byte) {
	if len(b) == 0 {
		return // no record
	}
	verdict := new(callMessage).parse(b)
	xid := uint32(7)
	if len(b) >= 4 {
		xid = binary.BigEndian.Uint32(b) + 1
	}
	conn.Write(record(b))
	if _, err := conn.Write(record(callBytes(xid, toyProg, 2, 0))); verdict == isNoise {
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Error(err)
		}
		return
	} else if err != nil {
		t.Fatal(err)
	}
	want := 2
	if verdict == isReply {
		want = 1
	}
	for range want {
		reply := receive(t, conn)
		if got := binary.BigEndian.Uint32(reply); got != xid && got != xid-1 || len(reply)%4 != 0 && len(b)%4 == 0 {
			t.Errorf("reply of %d bytes to XID %d", len(reply), got)
		}
	}
}

// fuzzClient sends bytes to a client that awaits a reply: the call ends, one
// way or another.
func fuzzClient(call func(*Client) error, b []byte) {
	server, conn := xprt.Pipe()
	c := NewClient(conn, ClientConfig{MaxReply: 1 << 20})
	c.xid = 0 // of the next call: 1
	done := make(chan struct{})
	go func() {
		defer close(done)
		call(c)
	}()
	io.ReadFull(server, make([]byte, 44))
	server.Write(b)
	server.Close()
	<-done
	c.Close()
}

// fuzzRecords reads records in two ways and compares.
func fuzzRecords(t *testing.T, b []byte) {
	const max = 1 << 16
	whole, parts := newRecordReader(bytes.NewReader(b), max), newRecordReader(iotest.OneByteReader(bytes.NewReader(b)), max)
	for {
		err := whole.next()
		if other := parts.next(); other != err {
			t.Fatalf("next: %v, byte by byte %v", err, other)
		}
		if err != nil {
			return
		}
		one, err := whole.appendRest(nil)
		head, other := parts.peek(100)
		two := bytes.Clone(head)
		if other == nil {
			parts.skip(len(head))
			two, other = parts.appendRest(two)
		}
		if err != other || err == nil && !bytes.Equal(one, two) {
			t.Fatalf("%d bytes, %v; in parts %d, %v", len(one), err, len(two), other)
		}
		if err != nil {
			return
		}
	}
}
