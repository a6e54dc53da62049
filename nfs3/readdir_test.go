package nfs3

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"pgregory.net/rapid"
)

// page is a page of either procedure.
type page struct {
	attr    PostOpAttr
	verf    Cookieverf3
	entries []Entryplus3
	eof     bool
	size    int // of the READDIR3resok or READDIRPLUS3resok
	dirSize int // of that without attributes and handles of entries
}

// lister reads a page.
type lister func(c *Client, dir []byte, cookie uint64, verf Cookieverf3, dircount, maxcount uint32) (page, error)

var listers = map[string]lister{
	"READDIR": func(c *Client, dir []byte, cookie uint64, verf Cookieverf3, _, maxcount uint32) (page, error) {
		res, err := c.Readdir(ctx, dir, cookie, verf, maxcount)
		if err != nil {
			return page{attr: res.Resfail.DirAttributes}, err
		}
		ok := res.Resok
		p := page{attr: ok.DirAttributes, verf: ok.Cookieverf, eof: ok.Reply.Eof, size: ok.SizeXDR()}
		for _, e := range ok.Reply.Entries {
			p.entries = append(p.entries, Entryplus3{Fileid: e.Fileid, Name: e.Name, Cookie: e.Cookie})
		}
		return p, nil
	},
	"READDIRPLUS": func(c *Client, dir []byte, cookie uint64, verf Cookieverf3, dircount, maxcount uint32) (page, error) {
		res, err := c.Readdirplus(ctx, dir, cookie, verf, dircount, maxcount)
		if err != nil {
			return page{attr: res.Resfail.DirAttributes}, err
		}
		ok := res.Resok
		p := page{attr: ok.DirAttributes, verf: ok.Cookieverf, eof: ok.Reply.Eof, size: ok.SizeXDR(), entries: ok.Reply.Entries}
		for _, e := range p.entries {
			p.dirSize += 4 + (&Entry3{Name: e.Name}).SizeXDR()
		}
		return p, nil
	},
}

// readAll lists dir from the beginning, in pages of at most maxcount bytes.
func readAll(t testing.TB, list lister, c *Client, dir []byte, maxcount uint32) (all []Entryplus3) {
	t.Helper()
	var last page
	for !last.eof {
		var cookie uint64
		if len(all) > 0 {
			cookie = all[len(all)-1].Cookie
		}
		p, err := list(c, dir, cookie, last.verf, 0, maxcount)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.entries) == 0 && !p.eof {
			t.Fatal("a page with no entries that is not the last")
		}
		all, last = append(all, p.entries...), p
	}
	return all
}

func TestReaddir(t *testing.T) {
	for proc, list := range listers {
		t.Run(proc, func(t *testing.T) {
			w, fs := serveMem(t)
			c := w.client(&root)
			top := mustMount(c, "/")
			dir := mustMkdir(c, top, "dir")
			want := []string{".", ".."}
			handles := [][]byte{dir, top}
			for i := range 100 {
				name := fmt.Sprintf("%0*d", i%20+3, i)
				if err := fs.WriteFile("/dir/"+name, nil, 0o644); err != nil {
					t.Fatal(err)
				}
				want = append(want, name)
				handles = append(handles, mustLookup(c, dir, name))
			}
			all := readAll(t, list, c, dir, 4096)
			if len(all) != len(want) {
				t.Fatalf("%d entries, want %d", len(all), len(want))
			}
			for i, e := range all {
				a := mustGetattr(c, handles[i])
				if string(e.Name) != want[i] || e.Fileid != a.Fileid {
					t.Errorf("entry %d is %q, %d; want %q, %d", i, e.Name, e.Fileid, want[i], a.Fileid)
				}
				if i > 0 && e.Cookie <= all[i-1].Cookie {
					t.Errorf("%q has cookie %d, after %d", e.Name, e.Cookie, all[i-1].Cookie)
				}
				if proc == "READDIRPLUS" {
					wantAfter(t, want[i], c, handles[i], e.NameAttributes)
					if !e.NameHandle.HandleFollows || !bytes.Equal(e.NameHandle.Handle.Data, handles[i]) {
						t.Errorf("%q: another handle", e.Name)
					}
				}
				// The list goes on after any entry.
				p, err := list(c, dir, e.Cookie, Cookieverf3{}, 0, 4096)
				if err != nil {
					t.Fatal(err)
				}
				if rest := all[i+1:]; !slices.EqualFunc(p.entries, rest[:len(p.entries)], func(a, b Entryplus3) bool { return a.Cookie == b.Cookie }) {
					t.Errorf("another list after %q", e.Name)
				}
				wantAfter(t, "directory", c, dir, p.attr)
			}
		})
	}
}

// TestReaddirSizes finds that every entry that fits is there, to the byte.
func TestReaddirSizes(t *testing.T) {
	for proc, list := range listers {
		t.Run(proc, func(t *testing.T) {
			w, _ := serveMem(t)
			c := w.client(&root)
			dir := mustMount(c, "/")
			for i := range 10 {
				mustCreate(c, dir, string(bytes.Repeat([]byte{'a' + byte(i)}, 2*i+1)), nil)
			}
			whole, err := list(c, dir, 0, Cookieverf3{}, 0, 64<<10)
			if err != nil {
				t.Fatal(err)
			}
			size := whole.size
			for n := len(whole.entries); n >= 0; n-- {
				p, err := list(c, dir, 0, Cookieverf3{}, 0, uint32(size))
				if n == 0 {
					wantStatus(t, "no room", err, NFS3ERR_TOOSMALL)
					wantAfter(t, "no room", c, dir, p.attr)
					break
				}
				if err != nil || len(p.entries) != n || p.size != size || p.eof != (n == len(whole.entries)) {
					t.Fatalf("%d bytes: %d entries in %d, eof %v, %v; want %d", size, len(p.entries), p.size, p.eof, err, n)
				}
				p, err = list(c, dir, 0, Cookieverf3{}, 0, uint32(size-1))
				if n > 1 && (err != nil || len(p.entries) != n-1) {
					t.Fatalf("%d bytes: %d entries, %v; want %d", size-1, len(p.entries), err, n-1)
				}
				e := &whole.entries[n-1]
				if size -= 4 + e.SizeXDR(); proc == "READDIR" {
					size += e.NameAttributes.SizeXDR() + e.NameHandle.SizeXDR()
				}
			}
			for _, max := range []uint32{0, 1, listHead, listHead + listTail - 1} {
				_, err := list(c, dir, 0, Cookieverf3{}, 0, max)
				wantStatus(t, fmt.Sprintf("%d bytes", max), err, NFS3ERR_TOOSMALL)
			}
			last := whole.entries[len(whole.entries)-1].Cookie
			p, err := list(c, dir, last, Cookieverf3{}, 0, listHead+listTail)
			if err != nil || len(p.entries) != 0 || !p.eof {
				t.Errorf("after the end: %d entries, eof %v, %v", len(p.entries), p.eof, err)
			}
			if p, err = list(c, dir, 0, Cookieverf3{}, math.MaxUint32, math.MaxUint32); err != nil || !p.eof {
				t.Errorf("all that there is: eof %v, %v", p.eof, err)
			}
		})
	}
}

func TestReaddirplusDircount(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&root)
	dir := mustMount(c, "/")
	for i := range 10 {
		mustCreate(c, dir, fmt.Sprint(i), nil)
	}
	const each = 4 + 8 + 4 + 4 + 8
	for dircount := uint32(1); dircount < 13*each; dircount++ {
		p, err := listers["READDIRPLUS"](c, dir, 0, Cookieverf3{}, dircount, 64<<10)
		want := min(int(dircount/each), 12)
		if want == 0 {
			wantStatus(t, fmt.Sprint(dircount), err, NFS3ERR_TOOSMALL)
			continue
		}
		if err != nil || len(p.entries) != want || p.eof != (want == 12) {
			t.Fatalf("dircount %d: %d entries, eof %v, %v; want %d", dircount, len(p.entries), p.eof, err, want)
		}
	}
}

func TestReaddirErrors(t *testing.T) {
	for proc, list := range listers {
		t.Run(proc, func(t *testing.T) {
			w, _ := serveMem(t)
			c := w.client(&user)
			dir := mustMount(c, "/")
			file := mustCreate(c, dir, "f", nil)
			closed := must(c.Mkdir(ctx, dir, "closed", &Sattr3{Mode: SetMode3{true, 0}})).Resok.Obj.Handle.Data
			for _, tt := range []struct {
				name   string
				fh     []byte
				cookie uint64
				verf   Cookieverf3
				want   NFSStat3
			}{
				{"file", file, 0, Cookieverf3{}, NFS3ERR_NOTDIR},
				{"file, later", file, 7, Cookieverf3{}, NFS3ERR_NOTDIR},
				{"no permission", closed, 0, Cookieverf3{}, NFS3ERR_ACCES},
				{"verifier of another server", dir, 2, Cookieverf3{1}, NFS3ERR_BAD_COOKIE},
			} {
				p, err := list(c, tt.fh, tt.cookie, tt.verf, 0, 4096)
				wantStatus(t, tt.name, err, tt.want)
				wantAfter(t, tt.name, c, tt.fh, p.attr)
			}
			// A verifier without a cookie means nothing; a cookie beyond all is the end.
			_, err := list(c, dir, 0, Cookieverf3{1}, 0, 4096)
			wantStatus(t, "verifier without cookie", err, NFS3_OK)
			p, err := list(c, dir, math.MaxUint64, Cookieverf3{}, 0, 4096)
			if err != nil || !p.eof || len(p.entries) != 0 {
				t.Errorf("cookie 2^64-1: %d entries, eof %v, %v", len(p.entries), p.eof, err)
			}
		})
	}
}

// Who may list but not search sees "..", but not what it is.
func TestReaddirWithoutSearch(t *testing.T) {
	w, fs := serveMem(t)
	if err := fs.MkdirAll("/d", 0o744); err != nil {
		t.Fatal(err)
	}
	c := w.client(&user)
	dir := mustLookup(c, mustMount(c, "/"), "d")
	all := readAll(t, listers["READDIRPLUS"], c, dir, 4096)
	if len(all) != 2 || string(all[1].Name) != ".." || all[1].NameHandle.HandleFollows || all[1].NameAttributes.AttributesFollow {
		t.Errorf("%+v", all)
	}
}

// TestReaddirPaging lists a directory in pages of any size while entries come and go:
// each that is there all the time is seen exactly once, and none twice.
func TestReaddirPaging(t *testing.T) {
	w, fs := serveMem(t)
	c := w.client(&root)
	top := mustMount(c, "/")
	var dirs int
	rapid.Check(t, func(t *rapid.T) {
		dirs++
		name := fmt.Sprint(dirs)
		dir := mustMkdir(c, top, name)
		stable := map[string]bool{".": true, "..": true}
		fickle := map[string]bool{}
		add := func(kind string, set map[string]bool) {
			n := kind + rapid.StringMatching(`[a-z]{0,40}`).Draw(t, kind)
			if !set[n] {
				set[n] = true
				if err := fs.WriteFile("/"+name+"/"+n, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range rapid.IntRange(0, 30).Draw(t, "stable") {
			add("s", stable)
		}
		proc := rapid.SampledFrom([]string{"READDIR", "READDIRPLUS"}).Draw(t, "proc")
		seen := map[string]int{}
		var last page
		var cookie uint64
		for !last.eof {
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				if rapid.Bool().Draw(t, "add") {
					add("f", fickle)
					continue
				}
				for n := range fickle {
					must(c.Remove(ctx, dir, n))
					delete(fickle, n)
					break
				}
			}
			maxcount := rapid.Uint32Range(0, 2000).Draw(t, "maxcount")
			dircount := rapid.Uint32Range(0, 500).Draw(t, "dircount")
			p, err := listers[proc](c, dir, cookie, last.verf, dircount, maxcount)
			if statusIs(err, NFS3ERR_TOOSMALL) {
				if maxcount > 500 && (dircount == 0 || dircount > 100) {
					t.Fatalf("maxcount %d, dircount %d are too small", maxcount, dircount)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.size > int(maxcount) || dircount > 0 && p.dirSize > int(dircount) {
				t.Fatalf("%d bytes, %d of them names, with maxcount %d and dircount %d", p.size, p.dirSize, maxcount, dircount)
			}
			if cookie > 0 && p.verf != last.verf {
				t.Fatal("the verifier changed")
			}
			for _, e := range p.entries {
				if e.Cookie <= cookie {
					t.Fatalf("cookie %d after %d", e.Cookie, cookie)
				}
				cookie = e.Cookie
				if seen[string(e.Name)]++; stable[string(e.Name)] && seen[string(e.Name)] > 1 {
					t.Fatalf("%q was there twice", e.Name)
				}
			}
			last = p
		}
		for n := range stable {
			if seen[n] != 1 {
				t.Fatalf("%q was there %d times", n, seen[n])
			}
		}
	})
}

func statusIs(err error, s NFSStat3) bool {
	e, ok := err.(*Error)
	return ok && e.Status == s
}

// hugeFS is a directory with as many entries as one likes.
type hugeFS struct {
	*memfs.FS
	entries vfs.Cookie
	reports int
}

func (h *hugeFS) ReadDir(_ *vfs.Call, _ vfs.Object, after vfs.Cookie, _ vfs.AttrMask, fill func(*vfs.DirEntry) bool) (bool, error) {
	e := vfs.DirEntry{Name: "entry", FileID: 1}
	for e.Cookie = max(after+1, vfs.FirstCookie); e.Cookie < vfs.FirstCookie+h.entries; e.Cookie++ {
		h.reports++
		if !fill(&e) {
			return false, nil
		}
	}
	return true, nil
}

// A page costs what is in it, however large the directory is and wherever it
// begins.
func TestReaddirHuge(t *testing.T) {
	fs := &hugeFS{FS: memfs.New(memfs.Config{}), entries: 1_000_000}
	c := serve(t, memExport(fs)).client(&root)
	dir := mustMount(c, "/")
	last := uint64(vfs.FirstCookie+fs.entries) - 1
	for _, cookie := range []uint64{0, 500_000, last - 10, last} {
		fs.reports = 0
		p, err := listers["READDIR"](c, dir, cookie, Cookieverf3{}, 0, MaxListing)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range p.entries {
			if e.Cookie != cookie+uint64(i)+1 {
				t.Fatalf("entry %d after cookie %d has cookie %d", i, cookie, e.Cookie)
			}
		}
		end := cookie + uint64(len(p.entries))
		if p.eof != (end == last) || fs.reports > len(p.entries)+1 || !p.eof && p.size < MaxListing-100 {
			t.Errorf("after cookie %d: %d entries, %d bytes, eof %v, %d reported", cookie, len(p.entries), p.size, p.eof, fs.reports)
		}
	}
}
