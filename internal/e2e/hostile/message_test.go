package hostile

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	eddy "eddy.example"
	"eddy.example/nfs3"
	"eddy.example/rpc"
)

const maxUint32 = math.MaxUint32

// TestMessages sends calls that are wrong in front of their arguments, RFC 5531.
func TestMessages(t *testing.T) {
	w := start(t, &eddy.Server{Exports: open(newMem())})
	none := auth(rpc.AUTH_NONE, nil)
	sys := func(body []byte) []byte { return auth(rpc.AUTH_SYS, body) }
	withGIDs := func(n int) []byte {
		cred := user
		cred.GIDs = make([]uint32, n)
		return authSys(&cred)
	}
	withMachine := func(n int) []byte {
		cred := user
		cred.Machine = make([]byte, n)
		return authSys(&cred)
	}
	// null is a call of NULL, which any caller may make, with a credential and verifier.
	null := func(credAndVerf ...[]byte) []byte {
		return cat(header(1, 0, 2, nfs3.NFS_PROGRAM, 3, 0), cat(credAndVerf...))
	}
	to := func(prog, vers, proc uint32) []byte {
		return cat(header(1, 0, 2, prog, vers, proc), none, none)
	}
	version := func(v uint32) []byte {
		return cat(header(1, 0, v, nfs3.NFS_PROGRAM, 3, 0), none, none)
	}
	kind := func(k uint32) []byte {
		return cat(header(1, k, 2, nfs3.NFS_PROGRAM, 3, 0), none, none)
	}
	const (
		nfsVersions   = "PROG_MISMATCH 3 3"
		mountVersions = "PROG_MISMATCH 1 3"
	)
	for _, tt := range []struct {
		name    string
		message []byte
		want    string
	}{
		{"right", null(none, none), "void"},
		{"right, with something behind it", null(none, none, make([]byte, 1000)), "void"},

		{"a reply", kind(1), ignored},
		{"the reply of a server", cat(words(1, 1, 0), none, words(0)), ignored},
		{"message type 2", kind(2), closed},
		{"message type 2^32-1", kind(maxUint32), closed},
		{"RPC version 0", version(0), "RPC_MISMATCH 2 2"},
		{"RPC version 1", version(1), "RPC_MISMATCH 2 2"},
		{"RPC version 3", version(3), "RPC_MISMATCH 2 2"},
		{"RPC version 2^32-1", version(maxUint32), "RPC_MISMATCH 2 2"},

		{"program 0", to(0, 0, 0), "PROG_UNAVAIL"},
		{"status monitor", to(100024, 1, 1), "PROG_UNAVAIL"},
		{"NFSACL", to(100227, 3, 0), "PROG_UNAVAIL"},
		{"program 2^32-1", to(maxUint32, maxUint32, maxUint32), "PROG_UNAVAIL"},
		{"NFS 0", to(nfs3.NFS_PROGRAM, 0, 0), nfsVersions},
		{"NFS 2", to(nfs3.NFS_PROGRAM, 2, 0), nfsVersions},
		{"NFS 4", to(nfs3.NFS_PROGRAM, 4, 1), nfsVersions},
		{"NFS 2^32-1", to(nfs3.NFS_PROGRAM, maxUint32, 0), nfsVersions},
		{"MOUNT 0", to(nfs3.MOUNT_PROGRAM, 0, 0), mountVersions},
		{"MOUNT 4", to(nfs3.MOUNT_PROGRAM, 4, 1), mountVersions},
		{"NFS procedure 22", to(nfs3.NFS_PROGRAM, 3, 22), "PROC_UNAVAIL"},
		{"NFS procedure 2^31", to(nfs3.NFS_PROGRAM, 3, 1<<31), "PROC_UNAVAIL"},
		{"NFS procedure 2^32-1", to(nfs3.NFS_PROGRAM, 3, maxUint32), "PROC_UNAVAIL"},
		{"MOUNT procedure 6", to(nfs3.MOUNT_PROGRAM, 3, 6), "PROC_UNAVAIL"},
		{"MOUNT 1 procedure 2^32-1", to(nfs3.MOUNT_PROGRAM, 1, maxUint32), "PROC_UNAVAIL"},

		{"AUTH_SHORT", null(auth(rpc.AUTH_SHORT, make([]byte, 8)), none), "AUTH_REJECTEDCRED"},
		{"AUTH_DH", null(auth(rpc.AUTH_DH, make([]byte, 8)), none), "AUTH_REJECTEDCRED"},
		{"RPCSEC_GSS", null(auth(rpc.RPCSEC_GSS, make([]byte, 20)), none), "AUTH_REJECTEDCRED"},
		{"AUTH_TLS", null(auth(rpc.AUTH_TLS, nil), none), "AUTH_BADCRED"},
		{"flavour 2^32-1", null(auth(maxUint32, nil), none), "AUTH_REJECTEDCRED"},
		{"400 bytes of credential", null(auth(rpc.AUTH_NONE, make([]byte, 400)), none), "void"},
		{"401 bytes of credential", null(auth(rpc.AUTH_NONE, make([]byte, 401)), none), "AUTH_BADCRED"},
		{"a credential longer than the message", null(words(0), lying(396, make([]byte, 100))), "AUTH_BADCRED"},
		{"a credential of 2^32-1 bytes", null(words(0), lying(maxUint32, nil)), "AUTH_BADCRED"},
		{"a credential of 2^31 bytes", null(words(1), lying(1<<31, authSys(&user))), "AUTH_BADCRED"},
		{"no credential", null(), "AUTH_BADCRED"},
		{"half a credential", null(words(1)), "AUTH_BADCRED"},
		{"no verifier", null(none), "AUTH_BADVERF"},
		{"400 bytes of verifier", null(none, auth(rpc.AUTH_NONE, make([]byte, 400))), "void"},
		{"401 bytes of verifier", null(none, auth(rpc.AUTH_NONE, make([]byte, 401))), "AUTH_BADVERF"},
		{"a verifier of 2^32-1 bytes", null(none, words(0), lying(maxUint32, nil)), "AUTH_BADVERF"},
		{"a verifier of another flavour", null(none, auth(rpc.AUTH_SYS, authSys(&user))), "AUTH_BADVERF"},

		{"AUTH_SYS without a body", null(sys(nil), none), "AUTH_BADCRED"},
		{"a machine name of 255", null(sys(withMachine(255)), none), "void"},
		{"a machine name of 256", null(sys(withMachine(256)), none), "AUTH_BADCRED"},
		{"a machine name longer than the body", null(sys(cat(words(0), lying(255, nil), make([]byte, 100))), none), "AUTH_BADCRED"},
		{"a machine name of 2^32-1", null(sys(cat(words(0), lying(maxUint32, nil))), none), "AUTH_BADCRED"},
		{"16 groups", null(sys(withGIDs(16)), none), "void"},
		{"17 groups", null(sys(withGIDs(17)), none), "AUTH_BADCRED"},
		{"more groups than there are", null(sys(cat(words(0, 0, 0, 0, 16), words(make([]uint32, 15)...))), none), "AUTH_BADCRED"},
		{"2^32-1 groups", null(sys(words(0, 0, 0, 0, maxUint32)), none), "AUTH_BADCRED"},
		{"2^30 groups", null(sys(words(0, 0, 0, 0, 1<<30)), none), "AUTH_BADCRED"},
	} {
		for _, transport := range transports {
			want := tt.want
			if transport == "udp" && want == closed {
				want = ignored
			}
			p := w.peer(transport)
			p.expect(tt.name+" over "+transport, tt.message, want)
			p.Close()
		}
		w.alive()
		w.idle()
	}
}

// TestShortMessages sends every beginning of a call as if it were all of it.
func TestShortMessages(t *testing.T) {
	fs := newMem()
	plant(t, fs)
	w := start(t, &eddy.Server{Exports: open(fs)})
	h := w.visit()
	c := &nfs3.GETATTR3args{Object: h.file}
	message := nfsCall(1, nfs3.NFSPROC3_GETATTR, c)
	args := len(message) - c.SizeXDR()
	verf := args - len(auth(0, nil))
	for _, transport := range transports {
		p := w.peer(transport)
		for n := range len(message) {
			var want string
			switch {
			case n == 0 && transport == "udp":
				continue // tried elsewhere
			case n < 8 && transport == "udp":
				want = ignored
			case n < 8:
				want = closed
			case n < 24:
				want = "GARBAGE_ARGS"
			case n < verf:
				want = "AUTH_BADCRED"
			case n < args:
				want = "AUTH_BADVERF"
			default:
				want = "GARBAGE_ARGS"
			}
			p.expect(fmt.Sprintf("%d of %d bytes over %s", n, len(message), transport), message[:n], want)
			if want == closed {
				p.Close()
				p = w.peer(transport)
			}
		}
		p.expect("all of it over "+transport, message, "NFS3_OK")
		p.Close()
	}
	w.idle()
}

// TestFragments sends records in all kinds of fragments, RFC 5531 §11.
func TestFragments(t *testing.T) {
	w := start(t, &eddy.Server{Exports: open(newMem())})
	message := callMessage(1, nfs3.MOUNT_PROGRAM, 3, nfs3.MOUNTPROC3_MNT, &user, nfs3.Dirpath("/"))
	null := callMessage(2, nfs3.NFS_PROGRAM, 3, 0, nil, nil)
	last := record(message)
	more := func(b []byte) []byte { return append(words(uint32(len(b))), b...) }
	empty := more(nil)
	single := func(between []byte) (b []byte) {
		for i := range message {
			b = append(append(b, between...), more(message[i:i+1])...)
		}
		return append(b, record(nil)...)
	}
	const max = 1<<20 + 64<<10
	pad := make([]byte, max-len(message))
	for _, tt := range []struct {
		name string
		b    []byte
		want string
	}{
		{"one", last, "NFS3_OK"},
		{"empty at the end", cat(more(message), record(nil)), "NFS3_OK"},
		{"sixteen empty ones before", cat(bytes.Repeat(empty, 16), last), "NFS3_OK"},
		{"one byte each", single(nil), "NFS3_OK"},
		{"one byte each, and empty ones", single(bytes.Repeat(empty, 3)), "NFS3_OK"},
		{"the longest record", record(append(message[:len(message):len(message)], pad...)), "NFS3_OK"},
		{"the longest record in two", cat(more(message), record(pad)), "NFS3_OK"},
		{"the longest record in small ones", cat(more(message), bytes.Repeat(more(pad[:1<<10]), len(pad)>>10), record(pad[:len(pad)&(1<<10-1)])), "NFS3_OK"},

		{"nothing", record(nil), closed},
		{"nothing in two", cat(empty, record(nil)), closed},
		{"many empty ones", bytes.Repeat(empty, 1000), closed},
		{"many empty ones, then a record", cat(bytes.Repeat(empty, 1000), last), closed},
		{"many empty ones behind data", cat(more(message), bytes.Repeat(empty, 1000), record(nil)), closed},
		{"a record one byte too long", words(lastFragment | (max + 1)), closed},
		{"a record one byte too long in two", cat(more(pad), words(lastFragment|uint32(len(message)+1))), closed},
		{"a record of 2^31-1 bytes", cat(words(maxUint32), message), closed},
		{"a fragment of 2^31-1 bytes", cat(words(lastFragment-1), message), closed},
		{"a fragment of 2^31-1 bytes behind data", cat(more(message), words(lastFragment-1), message), closed},
		{"text", []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), closed},
	} {
		for _, transport := range streams {
			p := w.peer(transport)
			p.put(tt.b)
			if got := outcome(p.answer()); got != tt.want {
				t.Errorf("%s over %s: %s, want %s", tt.name, transport, got, tt.want)
			}
			p.Close()

			// What came before is not affected, but its reply may be lost with the connection.
			p = w.peer(transport)
			p.put(cat(record(null), tt.b, record(null)))
			if tt.want == closed {
				p.ended()
			} else {
				for _, want := range []string{"void", tt.want, "void"} {
					if got := outcome(p.receive()); got != want {
						t.Errorf("%s between others over %s: %s, want %s", tt.name, transport, got, want)
					}
				}
			}
			p.Close()
		}
		w.alive()
	}
	w.idle()
}

// TestCutRecords sends all of a stream up to some byte and then nothing, not even that the
// connection ends, or just its end.
func TestCutRecords(t *testing.T) {
	fs := newMem()
	plant(t, fs)
	w := start(t, &eddy.Server{Exports: open(fs)})
	h := w.visit()
	write := record(nfsCall(1, nfs3.NFSPROC3_WRITE, &nfs3.WRITE3args{File: h.file, Count: 1 << 20, Data: make([]byte, 1<<20)}))
	small := record(nfsCall(2, nfs3.NFSPROC3_GETATTR, &nfs3.GETATTR3args{Object: h.file}))
	var cuts []int
	for n := range 200 {
		cuts = append(cuts, n)
	}
	for n := 256; n < len(write); n = n*5/4 + 1 {
		cuts = append(cuts, n)
	}
	cuts = append(cuts, 4095, 4096, 4097, 4100, 60<<10, 64<<10, len(write)-1)
	for _, transport := range streams {
		for _, n := range cuts {
			p := w.peer(transport)
			p.put(cat(small, write[:n]))
			if reply := outcome(p.receive()); reply != "NFS3_OK" {
				t.Errorf("the call before over %s: %s", transport, reply)
			}
			if n%2 == 0 {
				must(0, p.Conn.(interface{ CloseWrite() error }).CloseWrite())
				if replies := p.ended(); replies > 0 {
					t.Errorf("%d of %d bytes over %s: %d replies", n, len(write), transport, replies)
				}
			}
			p.Close()
		}
	}
	w.alive()
	w.idle()
	c := w.client("tcp")
	defer c.Close()
	if a := must(c.Getattr(ctx, h.file.Data)).Resok.ObjAttributes; a.Size != 10000 {
		t.Errorf("a WRITE that was cut off has written: the file has %d bytes", a.Size)
	}
}
