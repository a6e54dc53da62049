package nfs3

import (
	"fmt"
	"math"
	"net"
	"testing"

	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
)

func TestFsstat(t *testing.T) {
	fs := memfs.New(memfs.Config{RootMode: 0o777, Bytes: 1 << 20})
	blind := memExport(&noStat{fs, fs, fs})
	blind.Path = "/blind"
	closed := blind
	closed.Path, closed.ReadOnly = "/closed", true
	c := serve(t, memExport(fs), blind, closed).client(&user)
	dir := mustMount(c, "/")
	res := must(c.Fsstat(ctx, dir))
	if ok := res.Resok; ok.Tbytes != 1<<20 || ok.Fbytes == 0 || ok.Fbytes > ok.Tbytes || ok.Abytes != ok.Fbytes || ok.Tfiles == 0 || ok.Ffiles == 0 {
		t.Errorf("%+v", ok)
	}
	wantAfter(t, "FSSTAT", c, dir, res.Resok.ObjAttributes)
	for path, want := range map[string]uint64{"/blind": math.MaxInt64, "/closed": 0} {
		if ok := must(c.Fsstat(ctx, mustMount(c, path))).Resok; ok.Tbytes != want || ok.Abytes != want || ok.Afiles != want {
			t.Errorf("%s: %+v", path, ok)
		}
	}
}

// noStat is a backend that does not know its size.
type noStat struct {
	vfs.FS
	vfs.Waiter
	vfs.Writer
}

func TestFsinfo(t *testing.T) {
	fs := memfs.New(memfs.Config{RootMode: 0o777})
	bare := memExport(readOnlyFS{fs, fs})
	bare.Path = "/bare"
	c := serve(t, memExport(fs), bare).client(&user)
	dir := mustMount(c, "/")
	res := must(c.Fsinfo(ctx, dir))
	wantAfter(t, "FSINFO", c, dir, res.Resok.ObjAttributes)
	res.Resok.ObjAttributes = PostOpAttr{}
	want := FSINFO3resok{
		Rtmax: 1 << 20, Rtpref: 1 << 20, Rtmult: 4096, Wtmax: 1 << 20, Wtpref: 1 << 20, Wtmult: 4096, Dtpref: 64 << 10,
		Maxfilesize: math.MaxInt64, TimeDelta: NFSTime3{0, 1},
		Properties: FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME,
	}
	if res.Resok != want {
		t.Errorf("%+v, want %+v", res.Resok, want)
	}
	if got := must(c.Fsinfo(ctx, mustMount(c, "/bare"))).Resok.Properties; got != FSF3_HOMOGENEOUS {
		t.Errorf("properties %#x of what can do nothing", got)
	}
}

func TestTimeDelta(t *testing.T) {
	for ns, want := range map[uint32]vfs.Time{1: {Nsec: 1}, 1e6: {Nsec: 1e6}, 1e9: {Sec: 1}} {
		if got := delta(ns); got != want {
			t.Errorf("%d ns: %v", ns, got)
		}
	}
}

func TestPathconf(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	res := must(c.Pathconf(ctx, dir))
	wantAfter(t, "PATHCONF", c, dir, res.Resok.ObjAttributes)
	res.Resok.ObjAttributes = PostOpAttr{}
	want := PATHCONF3resok{Linkmax: 32000, NameMax: 255, NoTrunc: true, ChownRestricted: true, CasePreserving: true}
	if res.Resok != want {
		t.Errorf("%+v, want %+v", res.Resok, want)
	}
}

// Over UDP transfers are small enough for a datagram.
func TestDatagrams(t *testing.T) {
	w, _ := serveMem(t)
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.wg.Go(func() { w.xprt.ServePacket(pc) })
	c, err := Dial(ctx, "udp", pc.LocalAddr().String(), &user, rpc.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	dir := mustMount(c, "/")
	info := must(c.Fsinfo(ctx, dir)).Resok
	if info.Rtmax != 32<<10 || info.Wtmax != 32<<10 || info.Rtpref != 32<<10 || info.Wtpref != 32<<10 || info.Dtpref != 32<<10 {
		t.Errorf("%+v", info)
	}
	data := pattern(40_000)
	fh := mustCreate(c, dir, "f", nil)
	if n := must(c.Write(ctx, fh, data, 0, UNSTABLE)).Resok.Count; n != 32<<10 {
		t.Errorf("wrote %d bytes", n)
	}
	if n := must(c.Write(ctx, fh, data[32<<10:], 32<<10, UNSTABLE)).Resok.Count; int(n) != len(data)-32<<10 {
		t.Errorf("wrote %d bytes", n)
	}
	res := must(c.Read(ctx, fh, make([]byte, 40_000), 0))
	if string(res.Resok.Data) != string(data[:32<<10]) || res.Resok.Eof {
		t.Errorf("read %d bytes, eof %v", len(res.Resok.Data), res.Resok.Eof)
	}
	for i := range 2000 {
		mustCreate(c, dir, fmt.Sprint("entry", i), nil)
	}
	for proc, list := range listers {
		if n := len(readAll(t, list, c, dir, 1<<20)); n != 2003 {
			t.Errorf("%s: %d entries", proc, n)
		}
	}
}
