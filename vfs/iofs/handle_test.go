package iofs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"eddy.example/vfs"
)

// forest has the same path of long names in each of n directories, so that
// only a hash tells them apart.
func forest(n, depth int) (fstest.MapFS, []string) {
	tree := fstest.MapFS{}
	var paths []string
	for i := range n {
		p := fmt.Sprintf("tree-%d", i)
		for d := range depth {
			p += fmt.Sprintf("/a-name-of-some-length-%d", d)
		}
		p += "/leaf"
		tree[p] = &fstest.MapFile{Data: []byte(p)}
		paths = append(paths, p)
	}
	return tree, paths
}

func TestHandlesSurviveRestart(t *testing.T) {
	for _, depth := range []int{0, 1, 3, 22, 23, 24, 40} {
		tree, paths := forest(5, depth)
		before, after := New(tree, Config{}), New(tree, Config{})
		for _, p := range paths {
			h := before.AppendHandle(nil, object(p))
			if len(h) > vfs.MaxHandle {
				t.Fatalf("depth %d: %d bytes", depth, len(h))
			}
			if o, err := after.Resolve(call(), h); o != vfs.Object(object(p)) || err != nil {
				t.Errorf("depth %d: %v, %v, want %s", depth, o, err, p)
			}
		}
	}
}

// A search reads the directories on the way, and few others.
func TestSearchIsNarrow(t *testing.T) {
	const trees, depth = 300, 4
	tree, paths := forest(trees, depth)
	counting := &countingFS{MapFS: tree}
	f := New(counting, Config{})
	h := f.AppendHandle(nil, object(paths[7]))
	f = New(counting, Config{})
	if _, err := f.Resolve(call(), h); err != nil {
		t.Fatal(err)
	}
	// One tree in 256 has the hint of the one looked for.
	if n, most := len(counting.lists), 1+4*(depth+1); n > most {
		t.Errorf("%d directories were read, at most %d are needed", n, most)
	}
	n := len(counting.lists)
	if _, err := f.Resolve(call(), h); err != nil {
		t.Fatal(err)
	}
	if len(counting.lists) != n {
		t.Error("what was found was looked for again")
	}
}

func TestMapIsBounded(t *testing.T) {
	tree, paths := forest(100, 3)
	f := New(tree, Config{Paths: 10})
	var handles [][]byte
	for _, p := range paths {
		handles = append(handles, f.AppendHandle(nil, object(p)))
	}
	for i, h := range handles {
		if o, err := f.Resolve(call(), h); o != vfs.Object(object(paths[i])) || err != nil {
			t.Errorf("%v, %v, want %s", o, err, paths[i])
		}
		if n := len(f.objects.young) + len(f.objects.old); n > 10 {
			t.Fatalf("%d paths are known", n)
		}
	}
}

func TestStale(t *testing.T) {
	tree, paths := forest(3, 3)
	counting := &countingFS{MapFS: tree}
	f := New(counting, Config{})
	long := f.AppendHandle(nil, object(paths[0]+"-that-is-gone"))
	short := f.AppendHandle(nil, object("gone"))

	f = New(counting, Config{})
	if _, err := f.Resolve(call(), long); err != vfs.ErrStale {
		t.Errorf("a long path that is gone: %v, want %v", err, vfs.ErrStale)
	}
	o, err := f.Resolve(call(), short)
	if err == nil {
		err = f.Getattr(call(), o, vfs.AttrBasic, new(vfs.Attr))
	}
	if err != vfs.ErrStale {
		t.Errorf("a short path that is gone: %v, want %v", err, vfs.ErrStale)
	}
	if _, err := f.Lookup(call(), o, "x", nil); err != vfs.ErrStale {
		t.Errorf("lookup in it: %v, want %v", err, vfs.ErrStale)
	}
	if _, _, err := f.Read(call(), o, nil, 0); err != vfs.ErrStale {
		t.Errorf("read: %v, want %v", err, vfs.ErrStale)
	}
	if _, err := f.ReadDir(call(), o, 0, 0, nil); err != vfs.ErrStale {
		t.Errorf("list: %v, want %v", err, vfs.ErrStale)
	}

	// What could not be read may hold it.
	f = New(counting, Config{})
	mistake := errors.New("a bad sector")
	counting.setFailing("tree-0", mistake)
	if _, err := f.Resolve(call(), long); !errors.Is(err, mistake) {
		t.Errorf("a search that could not read everything: %v, want %v", err, mistake)
	}
	good := f.AppendHandle(nil, object(paths[1]))
	f = New(counting, Config{})
	if _, err := f.Resolve(call(), good); err != nil {
		t.Errorf("a search that found it elsewhere: %v", err)
	}
}

func TestOneSearchAtATime(t *testing.T) {
	tree, paths := forest(2, 3)
	counting := &countingFS{MapFS: tree}
	f := New(counting, Config{})
	h := [][]byte{f.AppendHandle(nil, object(paths[0])), f.AppendHandle(nil, object(paths[1]))}

	counting.entered, counting.proceed = make(chan string), make(chan struct{})
	f = New(counting, Config{})
	found := make(chan error)
	go func() {
		_, err := f.Resolve(call(), h[0])
		found <- err
	}()
	<-counting.entered
	if _, err := f.Resolve(call(), h[1]); err != vfs.ErrDelay {
		t.Errorf("a second search: %v, want %v", err, vfs.ErrDelay)
	}
	if _, err := f.Resolve(call(), f.AppendHandle(nil, object("tree-1"))); err != nil {
		t.Errorf("a short path meanwhile: %v", err)
	}
	go func() {
		for range counting.entered {
			counting.proceed <- struct{}{}
		}
	}()
	counting.proceed <- struct{}{}
	if err := <-found; err != nil {
		t.Errorf("the first search: %v", err)
	}
	if _, err := f.Resolve(call(), h[1]); err != nil {
		t.Errorf("the second search again: %v", err)
	}
	close(counting.entered)
}

func TestSearchEndsWithItsCall(t *testing.T) {
	tree, paths := forest(2, 3)
	f := New(tree, Config{})
	h := f.AppendHandle(nil, object(paths[0]))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f = New(tree, Config{})
	if _, err := f.Resolve(&vfs.Call{Context: ctx, MayWait: true}, h); err != vfs.ErrDelay {
		t.Errorf("%v, want %v", err, vfs.ErrDelay)
	}
}

func TestBadHandles(t *testing.T) {
	f := New(fstest.MapFS{}, Config{})
	for name, h := range map[string]string{
		"unknown kind":     "\x00abc",
		"later kind":       "\x03abc",
		"path upwards":     "\x01../etc/passwd",
		"absolute path":    "\x01/etc/passwd",
		"unclean path":     "\x01a//b",
		"no UTF-8":         "\x01\xff",
		"hash too short":   "\x02" + strings.Repeat("h", hashSize-1),
		"hash and no hint": "\x02" + strings.Repeat("h", hashSize),
		"too long":         "\x02" + strings.Repeat("h", vfs.MaxHandle),
	} {
		if _, err := f.Resolve(call(), []byte(h)); err != vfs.ErrBadHandle {
			t.Errorf("%s: %v, want %v", name, err, vfs.ErrBadHandle)
		}
	}
}

// FuzzResolve: whatever a handle is, it is an object of the tree or an error.
func FuzzResolve(f *testing.F) {
	tree, paths := forest(3, 3)
	iofs := New(tree, Config{})
	f.Add(iofs.AppendHandle(nil, object(paths[0])))
	f.Add(iofs.AppendHandle(nil, object("tree-1")))
	f.Fuzz(func(t *testing.T, h []byte) {
		o, err := iofs.Resolve(call(), h)
		if err != nil {
			if err != vfs.ErrBadHandle && err != vfs.ErrStale && err != vfs.ErrDelay {
				t.Error(err)
			}
			return
		}
		if again, err := iofs.Resolve(call(), iofs.AppendHandle(nil, o)); again != o || err != nil {
			t.Errorf("%v, then %v, %v", o, again, err)
		}
	})
}
