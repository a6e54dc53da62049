package hostile

import (
	"fmt"
	"math"
	"strings"
	"testing"

	eddy "eddy.example"
	"eddy.example/nfs3"
	"eddy.example/rpc"
)

const maxUint64 = math.MaxUint64

// wrong is a call whose arguments are at or beyond a bound.
type wrong struct {
	name string
	proc uint32
	args rpc.Appender
	want string
}

// TestArguments sends arguments at and beyond the bounds of RFC 1813.
func TestArguments(t *testing.T) {
	fs := newMem()
	plant(t, fs)
	w := start(t, &eddy.Server{Exports: open(fs)})
	h := w.visit()
	cases := append(wrongNames(h), wrongIO(h)...)
	cases = append(cases, wrongAttributes(h)...)
	cases = append(cases, wrongListings(h)...)
	xid := uint32(0)
	for _, transport := range transports {
		p := w.peer(transport)
		for _, tt := range cases {
			xid++
			message := nfsCall(xid, tt.proc, tt.args)
			if p.datagram && len(message) > 60<<10 {
				continue
			}
			p.expect(fmt.Sprintf("%s %s over %s", nfs3.NFSV3ProcName(tt.proc), tt.name, transport), message, tt.want)
		}
		p.Close()
	}
	w.alive()
	w.idle()
}

func wrongNames(h handles) (cases []wrong) {
	dir, attr := opaque(h.dir.Data), everyAttr()
	attrs := attr.AppendXDR(nil)
	// followed is what comes behind a name.
	followed := map[uint32][]byte{
		nfs3.NFSPROC3_LOOKUP:  nil,
		nfs3.NFSPROC3_CREATE:  cat(words(uint32(nfs3.GUARDED)), attrs),
		nfs3.NFSPROC3_MKDIR:   attrs,
		nfs3.NFSPROC3_SYMLINK: cat(attrs, opaque([]byte("target"))),
		nfs3.NFSPROC3_MKNOD:   cat(words(uint32(nfs3.NF3FIFO)), attrs),
		nfs3.NFSPROC3_REMOVE:  nil,
		nfs3.NFSPROC3_RMDIR:   nil,
		nfs3.NFSPROC3_RENAME:  cat(dir, opaque([]byte("to"))),
	}
	long := func(n int) []byte { return []byte(strings.Repeat("x", n)) }
	for proc, behind := range followed {
		add := func(name string, b []byte, want string) {
			cases = append(cases, wrong{name, proc, raw(cat(dir, b, behind)), want})
		}
		add("of nothing", opaque(nil), "NFS3ERR_ACCES")
		add("of a slash", opaque([]byte("/")), "NFS3ERR_ACCES")
		add("of a path", opaque([]byte("../d/file")), "NFS3ERR_ACCES")
		add("of NUL", opaque([]byte{0}), "NFS3ERR_ACCES")
		add("with NUL", opaque([]byte("file\x00")), "NFS3ERR_ACCES")
		add("of 256 bytes", opaque(long(256)), "NFS3ERR_NAMETOOLONG")
		add("of 1 MiB", opaque(long(1<<20)), "NFS3ERR_NAMETOOLONG")
		add("of 2^32-1 bytes", lying(maxUint32, long(100)), "GARBAGE_ARGS")
		add("of 2^31 bytes", lying(1<<31, long(100)), "GARBAGE_ARGS")
		add("longer than the rest", lying(1000, long(100)), "GARBAGE_ARGS")
		dot, dotdot, unknown := "NFS3ERR_EXIST", "NFS3ERR_EXIST", ""
		switch proc {
		case nfs3.NFSPROC3_LOOKUP:
			dot, dotdot, unknown = "NFS3_OK", "NFS3_OK", "NFS3ERR_NOENT"
		case nfs3.NFSPROC3_REMOVE:
			dot, dotdot, unknown = "NFS3ERR_ISDIR", "NFS3ERR_ISDIR", "NFS3ERR_NOENT"
		case nfs3.NFSPROC3_RMDIR:
			dot, unknown = "NFS3ERR_INVAL", "NFS3ERR_NOENT"
		case nfs3.NFSPROC3_RENAME:
			dot, dotdot, unknown = "NFS3ERR_INVAL", "NFS3ERR_INVAL", "NFS3ERR_NOENT"
		}
		add("of a dot", opaque([]byte(".")), dot)
		add("of two dots", opaque([]byte("..")), dotdot)
		if unknown != "" {
			add("of 255 bytes", opaque(long(255)), unknown)
		}
	}
	file := opaque(h.file.Data)
	from := opaque([]byte("file"))
	for _, tt := range []struct {
		name string
		b    []byte
		want string
	}{
		{"of nothing", opaque(nil), "NFS3ERR_ACCES"},
		{"of a path", opaque([]byte("a/b")), "NFS3ERR_ACCES"},
		{"of 256 bytes", opaque(long(256)), "NFS3ERR_NAMETOOLONG"},
		{"of 2^32-1 bytes", lying(maxUint32, nil), "GARBAGE_ARGS"},
		{"without its padding", lying(5, []byte("12345")), "GARBAGE_ARGS"},
	} {
		cases = append(cases,
			wrong{"to a name " + tt.name, nfs3.NFSPROC3_RENAME, raw(cat(dir, from, dir, tt.b)), tt.want},
			wrong{"a name " + tt.name, nfs3.NFSPROC3_LINK, raw(cat(file, dir, tt.b)), tt.want})
	}
	link := func(name, text string, want string) wrong {
		return wrong{name, nfs3.NFSPROC3_SYMLINK, &nfs3.SYMLINK3args{Where: at(h.dir, "file"), Symlink: nfs3.Symlinkdata3{SymlinkData: nfs3.NFSPath3(text)}}, want}
	}
	return append(cases,
		wrong{"a dot", nfs3.NFSPROC3_LINK, raw(cat(file, dir, opaque([]byte(".")))), "NFS3ERR_EXIST"},
		wrong{"a directory", nfs3.NFSPROC3_LINK, raw(cat(dir, dir, opaque([]byte("loop")))), "NFS3ERR_INVAL"},
		wrong{"into itself", nfs3.NFSPROC3_RENAME, raw(cat(dir, opaque([]byte("sub")), opaque(h.sub.Data), opaque([]byte("sub")))), "NFS3ERR_INVAL"},
		link("whose name is taken", strings.Repeat("x", 4096), "NFS3ERR_EXIST"),
		link("with a text of 4097 bytes", strings.Repeat("x", 4097), "NFS3ERR_NAMETOOLONG"),
		link("with a text of 1 MiB", strings.Repeat("x", 1<<20), "NFS3ERR_NAMETOOLONG"),
		wrong{"with a text of 2^32-1 bytes", nfs3.NFSPROC3_SYMLINK, raw(cat(dir, from, new(nfs3.Sattr3).AppendXDR(nil), lying(maxUint32, nil))), "GARBAGE_ARGS"},
	)
}

func wrongIO(h handles) (cases []wrong) {
	read := func(name string, fh nfs3.NFSFh3, off uint64, count uint32, want string) {
		cases = append(cases, wrong{name, nfs3.NFSPROC3_READ, &nfs3.READ3args{File: fh, Offset: off, Count: count}, want})
	}
	read("everything", h.file, 0, maxUint32, "NFS3_OK")
	read("nothing", h.file, 0, 0, "NFS3_OK")
	read("nothing at the end of all", h.file, maxUint64, 0, "NFS3_OK")
	read("at 2^64-1", h.file, maxUint64, maxUint32, "NFS3_OK")
	read("up to 2^64", h.file, maxUint64-1<<20, 1<<20, "NFS3_OK")
	read("at 2^63", h.file, 1<<63, maxUint32, "NFS3_OK")
	read("at 2^63-1", h.file, 1<<63-1, 1, "NFS3_OK")
	read("a directory", h.dir, 0, maxUint32, "NFS3ERR_INVAL")
	read("a link", h.link, 0, 1, "NFS3ERR_INVAL")

	write := func(name string, off uint64, count, n uint32, want string) {
		cases = append(cases, wrong{name, nfs3.NFSPROC3_WRITE, &nfs3.WRITE3args{File: h.file, Offset: off, Count: count, Data: make([]byte, n)}, want})
	}
	write("at 2^64-1", maxUint64, 1, 1, "NFS3ERR_FBIG")
	write("up to 2^64", maxUint64-7, 8, 8, "NFS3ERR_FBIG")
	write("at 2^63", 1<<63, 8, 8, "NFS3ERR_FBIG")
	write("beyond 2^63-1", 1<<63-8, 8, 8, "NFS3ERR_FBIG")
	write("nothing at 2^64-1", maxUint64, 0, 0, "NFS3_OK")
	write("2^32-1 bytes, of which 8 are there", 0, maxUint32, 8, "NFS3ERR_INVAL")
	write("2^31 bytes, of which 8 are there", 0, 1<<31, 8, "NFS3ERR_INVAL")
	write("one byte more than there is", 0, 9, 8, "NFS3ERR_INVAL")
	write("one byte less than there is", 0, 7, 8, "NFS3_OK")
	write("nothing of what there is", 0, 0, 8, "NFS3_OK")
	write("more than 1 MiB", 0, 1<<20+1, 1<<20+1, "NFS3_OK")
	head := func(count, how uint32) []byte { return cat(opaque(h.file.Data), words(0, 0, count, how)) }
	for _, tt := range []wrong{
		{name: "stable_how 3", args: raw(cat(head(8, 3), opaque(make([]byte, 8))))},
		{name: "stable_how 2^32-1", args: raw(cat(head(8, maxUint32), opaque(make([]byte, 8))))},
		{name: "data of 2^32-1 bytes", args: raw(cat(head(8, 0), lying(maxUint32, make([]byte, 8))))},
		{name: "data of 2^31 bytes", args: raw(cat(head(8, 0), lying(1<<31, make([]byte, 8))))},
		{name: "data of 2^32-1 bytes in a long record", args: raw(cat(head(8, 0), lying(maxUint32, make([]byte, 1<<20))))},
		{name: "data one byte longer than a long record", args: raw(cat(head(8, 0), lying(1<<20+1, make([]byte, 1<<20))))},
		{name: "data without padding", args: raw(cat(head(5, 0), lying(5, make([]byte, 5))))},
		{name: "no data", args: raw(head(8, 0))},
	} {
		tt.proc, tt.want = nfs3.NFSPROC3_WRITE, "GARBAGE_ARGS"
		cases = append(cases, tt)
	}

	commit := func(name string, fh nfs3.NFSFh3, off uint64, count uint32, want string) {
		cases = append(cases, wrong{name, nfs3.NFSPROC3_COMMIT, &nfs3.COMMIT3args{File: fh, Offset: off, Count: count}, want})
	}
	commit("at 2^64-1", h.file, maxUint64, maxUint32, "NFS3_OK")
	commit("to the end from 2^64-1", h.file, maxUint64, 0, "NFS3_OK")
	commit("a directory", h.dir, 0, 0, "NFS3ERR_INVAL")
	return append(cases, wrong{"of a file", nfs3.NFSPROC3_READLINK, &nfs3.READLINK3args{Symlink: h.file}, "NFS3ERR_INVAL"})
}

func wrongAttributes(h handles) (cases []wrong) {
	size := func(n uint64) nfs3.Sattr3 { return nfs3.Sattr3{Size: nfs3.SetSize3{SetIt: true, Size: n}} }
	setattr := func(name string, fh nfs3.NFSFh3, a nfs3.Sattr3, want string) {
		cases = append(cases, wrong{name, nfs3.NFSPROC3_SETATTR, &nfs3.SETATTR3args{Object: fh, NewAttributes: a}, want})
	}
	setattr("size 2^64-1", h.file, size(maxUint64), "NFS3ERR_INVAL")
	setattr("size 2^63", h.file, size(1<<63), "NFS3ERR_INVAL")
	setattr("size of a directory", h.dir, size(0), "NFS3ERR_INVAL")
	setattr("mode of somebody else's", h.file, nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: maxUint32}}, "NFS3ERR_PERM")
	second := nfs3.NFSTime3{Nseconds: 1e9}
	setattr("atime", h.file, nfs3.Sattr3{Atime: nfs3.SetAtime{SetIt: nfs3.SET_TO_CLIENT_TIME, Atime: second}}, "NFS3ERR_INVAL")
	setattr("mtime", h.file, nfs3.Sattr3{Mtime: nfs3.SetMtime{SetIt: nfs3.SET_TO_CLIENT_TIME, Mtime: second}}, "NFS3ERR_INVAL")
	guard := nfs3.Sattrguard3{Check: true, ObjCtime: second}
	cases = append(cases, wrong{"guard", nfs3.NFSPROC3_SETATTR, &nfs3.SETATTR3args{Object: h.file, Guard: guard}, "NFS3ERR_INVAL"})

	file := opaque(h.file.Data)
	for _, tt := range []wrong{
		{name: "mode is TRUE twice", args: raw(cat(file, words(2, 0, 0, 0, 0, 0, 0, 0)))},
		{name: "mode is TRUE 2^32-1 times", args: raw(cat(file, words(maxUint32, 0, 0, 0, 0, 0, 0, 0)))},
		{name: "time_how 3", args: raw(cat(file, words(0, 0, 0, 0, 3, 0, 0, 0)))},
		{name: "time_how 2^32-1", args: raw(cat(file, words(0, 0, 0, 0, 0, maxUint32, 0, 0)))},
		{name: "guard is TRUE twice", args: raw(cat(file, words(0, 0, 0, 0, 0, 0, 2, 0, 0)))},
		{name: "no guard", args: raw(cat(file, words(0, 0, 0, 0, 0, 0)))},
	} {
		tt.proc, tt.want = nfs3.NFSPROC3_SETATTR, "GARBAGE_ARGS"
		cases = append(cases, tt)
	}

	create := func(name string, a nfs3.Sattr3, want string) {
		how := nfs3.Createhow3{Mode: nfs3.GUARDED, ObjAttributes: a}
		cases = append(cases, wrong{name, nfs3.NFSPROC3_CREATE, &nfs3.CREATE3args{Where: at(h.dir, "new"), How: how}, want})
	}
	create("size 2^64-1", size(maxUint64), "NFS3ERR_NOSPC")
	create("size 2^63", size(1<<63), "NFS3ERR_NOSPC")
	where := cat(opaque(h.dir.Data), opaque([]byte("new")))
	none := new(nfs3.Sattr3).AppendXDR(nil)
	return append(cases, []wrong{
		{"createmode 3", nfs3.NFSPROC3_CREATE, raw(cat(where, words(3), none)), "GARBAGE_ARGS"},
		{"createmode 2^32-1", nfs3.NFSPROC3_CREATE, raw(cat(where, words(maxUint32), none)), "GARBAGE_ARGS"},
		{"half a verifier", nfs3.NFSPROC3_CREATE, raw(cat(where, words(2, 0))), "GARBAGE_ARGS"},
		{"ftype3 0", nfs3.NFSPROC3_MKNOD, raw(cat(where, words(0), none)), "NFS3ERR_BADTYPE"},
		{"ftype3 8", nfs3.NFSPROC3_MKNOD, raw(cat(where, words(8), none)), "NFS3ERR_BADTYPE"},
		{"ftype3 2^32-1", nfs3.NFSPROC3_MKNOD, raw(cat(where, words(maxUint32), none)), "NFS3ERR_BADTYPE"},
		{"NF3REG", nfs3.NFSPROC3_MKNOD, raw(cat(where, words(1))), "NFS3ERR_BADTYPE"},
		{"NF3DIR", nfs3.NFSPROC3_MKNOD, raw(cat(where, words(2))), "NFS3ERR_BADTYPE"},
		{"NF3LNK", nfs3.NFSPROC3_MKNOD, raw(cat(where, words(5))), "NFS3ERR_BADTYPE"},
		{"a device by a user", nfs3.NFSPROC3_MKNOD, raw(cat(where, words(4), none, words(maxUint32, maxUint32))), "NFS3ERR_ACCES"},
		{"every bit", nfs3.NFSPROC3_ACCESS, &nfs3.ACCESS3args{Object: h.file, Access: maxUint32}, "NFS3_OK"},
	}...)
}

func wrongListings(h handles) (cases []wrong) {
	some := nfs3.Cookieverf3{1}
	readdir := func(name string, fh nfs3.NFSFh3, cookie uint64, verf nfs3.Cookieverf3, count uint32, want string) {
		cases = append(cases,
			wrong{name, nfs3.NFSPROC3_READDIR, &nfs3.READDIR3args{Dir: fh, Cookie: cookie, Cookieverf: verf, Count: count}, want},
			wrong{name, nfs3.NFSPROC3_READDIRPLUS, &nfs3.READDIRPLUS3args{Dir: fh, Cookie: cookie, Cookieverf: verf, Dircount: maxUint32, Maxcount: count}, want})
	}
	var zero nfs3.Cookieverf3
	for n := range uint32(96 + 8 + 24) {
		// Less than attributes, verifier, the end, and the entry ".".
		readdir(fmt.Sprintf("count %d", n), h.dir, 0, zero, n, "NFS3ERR_TOOSMALL")
	}
	readdir("count 2^32-1", h.dir, 0, zero, maxUint32, "NFS3_OK")
	readdir("count 2^31", h.dir, 0, zero, 1<<31, "NFS3_OK")
	readdir("count 2^32-1 of a file", h.file, 0, zero, maxUint32, "NFS3ERR_NOTDIR")
	readdir("a link", h.link, 0, zero, 4096, "NFS3ERR_NOTDIR")
	for _, cookie := range []uint64{1, 2, 3, 4, 1 << 31, 1 << 32, 1<<63 - 1, 1 << 63, maxUint64 - 1, maxUint64} {
		readdir(fmt.Sprintf("from cookie %d", cookie), h.dir, cookie, zero, 4096, "NFS3_OK")
		readdir(fmt.Sprintf("from cookie %d, with a verifier", cookie), h.dir, cookie, some, 4096, "NFS3ERR_BAD_COOKIE")
	}
	readdir("from the beginning, with a verifier", h.dir, 0, some, 4096, "NFS3_OK")
	readdir("a file from cookie 3", h.file, 3, zero, 4096, "NFS3ERR_NOTDIR")
	plus := func(name string, dircount, maxcount uint32, want string) {
		cases = append(cases, wrong{name, nfs3.NFSPROC3_READDIRPLUS, &nfs3.READDIRPLUS3args{Dir: h.dir, Dircount: dircount, Maxcount: maxcount}, want})
	}
	plus("dircount 0", 0, 4096, "NFS3_OK")
	plus("dircount 1", 1, 4096, "NFS3ERR_TOOSMALL")
	plus("dircount 2^32-1, maxcount 0", maxUint32, 0, "NFS3ERR_TOOSMALL")
	plus("dircount 0, maxcount 2^32-1", 0, maxUint32, "NFS3_OK")
	return cases
}

// TestCutArguments sends every beginning of every procedure's arguments.
func TestCutArguments(t *testing.T) {
	fs := newMem()
	plant(t, fs)
	w := start(t, &eddy.Server{Exports: open(fs)})
	h := w.visit()
	p := w.peer("pipe")
	defer p.Close()
	xid := uint32(0)
	for _, c := range h.calls() {
		args := c.args.AppendXDR(nil)
		for n := range len(args) {
			xid++
			cut := call{c.prog, c.vers, c.proc, raw(args[:n])}
			p.expect(fmt.Sprintf("%s with %d of %d bytes", c.name(), n, len(args)), cut.message(xid), "GARBAGE_ARGS")
		}
	}
}

// TestMountPaths asks MOUNT for what cannot be mounted.
func TestMountPaths(t *testing.T) {
	fs := newMem()
	plant(t, fs)
	w := start(t, &eddy.Server{Exports: open(fs)})
	path := func(p string) []byte { return opaque([]byte(p)) }
	xid := uint32(0)
	for _, transport := range transports {
		p := w.peer(transport)
		for _, tt := range []struct {
			name string
			args []byte
			want string
		}{
			{"1024 slashes", path(strings.Repeat("/", 1024)), "NFS3_OK"},
			{"1025 bytes", path(strings.Repeat("/", 1025)), "GARBAGE_ARGS"},
			{"2^32-1 bytes", lying(maxUint32, nil), "GARBAGE_ARGS"},
			{"2^31 bytes", lying(1<<31, make([]byte, 1000)), "GARBAGE_ARGS"},
			{"a relative path", path("d"), "NFS3ERR_NOENT"},
			{"two dots", path("/d/../d"), "NFS3ERR_NOENT"},
			{"two dots at the end", path("/.."), "NFS3ERR_NOENT"},
			{"NUL", path("/d\x00"), "NFS3ERR_NOENT"},
			{"nothing that is there", path("/e"), "NFS3ERR_NOENT"},
			{"a name of 256 bytes", path("/" + strings.Repeat("x", 256)), "NFS3ERR_NAMETOOLONG"},
			{"a file", path("/d/file"), "NFS3ERR_NOTDIR"},
			{"below a file", path("/d/file/x"), "NFS3ERR_NOTDIR"},
			{"dots", path("/./d/./sub/."), "NFS3_OK"},
		} {
			xid++
			message := callMessage(xid, nfs3.MOUNT_PROGRAM, 3, nfs3.MOUNTPROC3_MNT, &user, raw(tt.args))
			p.expect("MNT of "+tt.name+" over "+transport, message, tt.want)
		}
		p.Close()
	}
	w.alive()
	w.idle()
}
