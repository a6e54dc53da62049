package hostile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
	"eddy.example/vfs/export"
)

const squashNone = export.SquashNone

// peer is one end of a connection, or of a socket for datagrams, that any bytes are written to.
type peer struct {
	net.Conn
	t        testing.TB
	datagram bool
}

func newPeer(t testing.TB, c net.Conn) *peer {
	c.SetDeadline(time.Now().Add(patience))
	_, datagram := c.(*net.UDPConn)
	return &peer{c, t, datagram}
}

const lastFragment = 1 << 31

// record is message as it travels on a stream, in one fragment.
func record(message []byte) []byte {
	return append(xdr.AppendUint32(nil, lastFragment|uint32(len(message))), message...)
}

// put writes bytes. That the server may have ended the connection shows when reading.
func (p *peer) put(b []byte) { p.Write(b) }

// send sends a message.
func (p *peer) send(message []byte) {
	if p.datagram {
		p.put(message)
	} else {
		p.put(record(message))
	}
}

// receive returns the next message, or nil if the server has ended the connection.
func (p *peer) receive() []byte {
	p.t.Helper()
	var message []byte
	var err error
	if p.datagram {
		message = make([]byte, 64<<10)
		var n int
		n, err = p.Read(message)
		message = message[:n]
	} else {
		var mark [4]byte
		if _, err = io.ReadFull(p, mark[:]); err == nil {
			n := binary.BigEndian.Uint32(mark[:])
			if n < lastFragment {
				p.t.Fatalf("a reply in fragments: mark %#x", n)
			}
			message = make([]byte, n-lastFragment)
			_, err = io.ReadFull(p, message)
		}
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		p.t.Fatal("neither answered nor ended")
	}
	if err != nil {
		return nil
	}
	return message
}

// ended reads to the end of the connection and returns how many messages there were before.
func (p *peer) ended() (replies int) {
	p.t.Helper()
	for p.receive() != nil {
		replies++
	}
	return replies
}

// probe is the XID of a NULL call that shows whether a message before it was answered.
const probe = 0xfeedface

// ask sends a message and returns the reply to it. Without one it returns an
// empty reply, or nil if the server has ended the connection.
func (p *peer) ask(message []byte) []byte {
	p.t.Helper()
	p.send(message)
	return p.answer()
}

// answer is the reply to what was sent last.
func (p *peer) answer() (reply []byte) {
	p.t.Helper()
	p.send(callMessage(probe, nfs3.NFS_PROGRAM, nfs3.NFS_V3, 0, nil, nil))
	reply = []byte{}
	for {
		switch m := p.receive(); {
		case m == nil:
			return nil
		case len(m) >= 4 && binary.BigEndian.Uint32(m) == probe:
			return reply
		case len(reply) > 0:
			p.t.Fatalf("two replies: %x and %x", reply, m)
		default:
			reply = m
		}
	}
}

// expect sends a message and checks what becomes of it.
func (p *peer) expect(name string, message []byte, want string) {
	p.t.Helper()
	if want == closed {
		p.send(message)
		if n := p.ended(); n > 0 {
			p.t.Errorf("%s: %d replies", name, n)
		}
		return
	}
	reply := p.ask(message)
	if got := outcome(reply); got != want {
		p.t.Errorf("%s: %s, want %s", name, got, want)
	}
	if len(reply) > 0 {
		if err := wellFormed(message, reply); err != nil {
			p.t.Errorf("%s: %v", name, err)
		}
	}
}

// callMessage is a call by cred, nil for AUTH_NONE.
func callMessage(xid, prog, vers, proc uint32, cred *rpc.Cred, args rpc.Appender) []byte {
	b := header(xid, 0, rpc.Version, prog, vers, proc)
	if cred == nil {
		b = append(b, auth(rpc.AUTH_NONE, nil)...)
	} else {
		b = append(b, auth(rpc.AUTH_SYS, authSys(cred))...)
	}
	b = append(b, auth(rpc.AUTH_NONE, nil)...)
	if args != nil {
		b = args.AppendXDR(b)
	}
	return b
}

// header is the fixed part of a message.
func header(xid, kind, rpcVers, prog, vers, proc uint32) []byte {
	return words(xid, kind, rpcVers, prog, vers, proc)
}

func words(v ...uint32) (b []byte) {
	for _, v := range v {
		b = xdr.AppendUint32(b, v)
	}
	return b
}

// auth is a credential or verifier.
func auth(flavor uint32, body []byte) []byte {
	return xdr.AppendOpaque(words(flavor), body)
}

func authSys(cred *rpc.Cred) []byte {
	b := xdr.AppendOpaque(words(cred.Stamp), cred.Machine)
	b = append(b, words(cred.UID, cred.GID, uint32(len(cred.GIDs)))...)
	return append(b, words(cred.GIDs...)...)
}

// nfsCall is a call of the NFS program by the user.
func nfsCall(xid, proc uint32, args rpc.Appender) []byte {
	return callMessage(xid, nfs3.NFS_PROGRAM, nfs3.NFS_V3, proc, &user, args)
}

// raw is arguments byte by byte.
type raw []byte

func (r raw) AppendXDR(b []byte) []byte { return append(b, r...) }

// What can become of a message.
const (
	closed  = "closed"  // the connection was ended
	ignored = "ignored" // there was no reply
)

// outcome says what a reply to a call says: the error of the message protocol,
// or the results' first word.
func outcome(reply []byte) string {
	switch {
	case reply == nil:
		return closed
	case len(reply) == 0:
		return ignored
	}
	r := reader{b: reply}
	r.word() // XID
	if r.word() != 1 {
		return "no reply"
	}
	if r.word() == 1 {
		if r.word() == 0 {
			return fmt.Sprintf("RPC_MISMATCH %d %d", r.word(), r.word())
		}
		return rpc.AuthStat(r.word()).String()
	}
	r.word() // verifier
	r.skip(r.word())
	switch stat := rpc.AcceptStat(r.word()); stat {
	case rpc.SUCCESS:
		if len(r.b) == 0 {
			return "void"
		}
		return nfs3.NFSStat3(r.word()).String()
	case rpc.PROG_MISMATCH:
		return fmt.Sprintf("%v %d %d", stat, r.word(), r.word())
	default:
		return stat.String()
	}
}

// reader reads words as long as there are some.
type reader struct {
	b   []byte
	err error
}

func (r *reader) word() (v uint32) {
	if r.err == nil {
		v, r.b, r.err = xdr.ConsumeUint32(r.b)
	}
	return v
}

func (r *reader) skip(n uint32) {
	if r.err == nil {
		_, r.b, r.err = xdr.ConsumeFixed(r.b, n)
	}
}
