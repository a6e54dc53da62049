//go:build !race && !invariants

package bufpool

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident is how many of the system's pages of b are in memory. It panics if
// one of them is not mapped.
func resident(b []byte) int {
	in := make([]byte, len(b)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)), uintptr(unsafe.Pointer(unsafe.SliceData(in))))
	if errno != 0 {
		panic(errno)
	}
	n := 0
	for _, c := range in {
		n += int(c & 1)
	}
	return n
}

// TestPagesGoBack takes runs out of use in every way and looks at the memory.
func TestPagesGoBack(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   func(p *Pool, r *Run)
	}{
		{"trimmed", func(p *Pool, r *Run) { p.Put(r); p.Trim(at(0)); p.Trim(at(10)) }},
		{"for another class", func(p *Pool, r *Run) { p.Put(r); p.Put(p.Get(MaxPayload)) }},
		{"detached", func(p *Pool, r *Run) { p.Detach(r); p.Put(r) }},
		{"given up", func(p *Pool, r *Run) { p.GiveUp(r) }},
		{"locked and given up", func(p *Pool, r *Run) {
			if err := unix.Mlock(r.mem); err != nil {
				t.Fatal(err)
			}
			p.GiveUp(r)
		}},
	} {
		p := New(Config{Cap: 1})
		r := p.Get(65536)
		stamp(r, 1)
		if got, want := resident(r.mem), len(r.mem)/os.Getpagesize(); got != want {
			t.Errorf("%s: %d pages in use, want %d", c.name, got, want)
		}
		c.fn(p, r)
		if got := resident(r.mem); got != 0 {
			t.Errorf("%s: %d pages still in memory", c.name, got)
		}
		if !stamped(r, 0) {
			t.Errorf("%s: does not read as zeros", c.name)
		}
		closeClean(t, p)
	}
}

// TestNotTouched lends without reading or writing: the pool itself brings no
// page into memory.
func TestNotTouched(t *testing.T) {
	p := New(Config{})
	r := p.Get(MaxPayload)
	p.Put(r)
	p.Get(MaxPayload)
	if got := resident(r.mem); got != 0 {
		t.Errorf("%d pages in memory", got)
	}
	p.Put(r)
	closeClean(t, p)
}

// TestSmallPages wants the mapping to be kept from huge pages, where the system has
// them ("nh" in smaps).
func TestSmallPages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		return
	}
	p := New(Config{})
	r := p.Get(MaxPayload)
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	addr := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(r.mem))))
	inside := false
	for line := range strings.Lines(string(smaps)) {
		var from, to uint64
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			inside = from <= addr && addr < to
		} else if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			if !slices.Contains(strings.Fields(flags), "nh") {
				t.Errorf("flags of the mapping:%s", flags)
			}
		}
	}
	p.Put(r)
	closeClean(t, p)
}

// TestUnmapped looks at what is mapped after Close: what was given up.
func TestUnmapped(t *testing.T) {
	p := New(Config{})
	r, g := p.Get(65536), p.Get(65536)
	mem := r.mem
	p.Put(r)
	p.GiveUp(g)
	p.Close()
	mustPanic(t, "look at a run that was free", func() { resident(mem) })
	if got := resident(g.mem); got != 0 {
		t.Errorf("%d pages of a run that was given up", got)
	}
}

// TestKernelKeepsItsPages gives up a run that a pipe refers to. What comes out
// of the pipe is what went in, while the run reads as zeros.
func TestKernelKeepsItsPages(t *testing.T) {
	rd, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	defer wr.Close()
	p := New(Config{})
	r := p.Get(8192)
	for i := range r.Bytes() {
		r.Bytes()[i] = byte(i % 251)
	}
	want := slices.Clone(r.Bytes())
	iov := []unix.Iovec{{Base: &r.Bytes()[0]}}
	iov[0].SetLen(len(want))
	if n, err := unix.Vmsplice(int(wr.Fd()), iov, 0); n != len(want) || err != nil {
		t.Fatalf("vmsplice: %d, %v", n, err)
	}
	p.GiveUp(r)
	if !stamped(r, 0) {
		t.Error("the run still has its memory")
	}
	got := make([]byte, len(want))
	if n, err := rd.Read(got); n != len(want) || err != nil {
		t.Fatalf("read: %d, %v", n, err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the kernel lost its pages")
	}
	closeClean(t, p)
}
