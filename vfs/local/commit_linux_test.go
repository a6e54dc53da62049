package local

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"eddy.example/vfs"
)

// gate stands in for the kernel's syncs: each waits until it is let go.
type gate struct {
	began chan target
	end   chan error
}

func newGate(f *FS) *gate {
	g := &gate{began: make(chan target), end: make(chan error)}
	f.syncHook = func(t target) error {
		g.began <- t
		return <-g.end
	}
	return g
}

// write writes a byte in the background.
func write(f *FS, o vfs.Object, at int, how vfs.Stability, done chan<- error) {
	go func() {
		_, did, _, err := f.Write(root(), o, []byte{'x'}, uint64(at), how, nil)
		if err == nil && did != how {
			err = fmt.Errorf("stability %d was reached", did)
		}
		done <- err
	}()
}

// waiting waits until so many calls wait for the next sync of q.
func waiting(q *commits, n int64) {
	for {
		q.mu.Lock()
		enough := q.next != nil && q.next.members == n
		q.mu.Unlock()
		if enough {
			return
		}
	}
}

func TestGroupCommit(t *testing.T) {
	f := open(t, Config{AsyncMetadata: true})
	o := create(t, f, f.root, "file", "")
	g := newGate(f)
	done := make(chan error, 10)
	write(f, o, 0, vfs.DataSync, done)
	first := <-g.began
	if first.full {
		t.Error("DataSync made a full sync")
	}
	// What comes while that is under way shares the next, which is as strong
	// as its strongest member.
	for n := 1; n < 5; n++ {
		write(f, o, n, vfs.DataSync, done)
	}
	write(f, o, 5, vfs.FileSync, done)
	waiting(&o.(*inode).commits, 5)
	g.end <- nil
	if second := <-g.began; !second.full {
		t.Error("a sync with a member that asked for FileSync was none")
	}
	g.end <- nil
	for range 6 {
		noError(t, <-done)
	}
	if s := f.Stats(); s.Syncs != 2 || s.SyncedCalls != 6 || s.PendingFiles != 0 {
		t.Errorf("%+v, want 2 syncs for 6 calls", s)
	}
	f.syncHook = nil
}

func TestGroupCommitOfNames(t *testing.T) {
	f := open(t, Config{})
	d := mkdir(t, f, f.root, "dir")
	before := f.Stats()
	g := newGate(f)
	done := make(chan error, 10)
	make := func(n int) {
		go func() {
			_, err := f.Mkdir(root(), d, fmt.Sprint(n), new(vfs.SetAttr), nil, nil)
			done <- err
		}()
	}
	make(0)
	<-g.began
	for n := 1; n < 5; n++ {
		make(n)
	}
	waiting(&f.root.mount.commits, 4)
	// The directory, and what was made in it: 1 and 1, then 1 and 4.
	for n := 1; n < 7; n++ {
		g.end <- nil
		<-g.began
	}
	g.end <- nil
	for range 5 {
		noError(t, <-done)
	}
	if s := f.Stats(); s.Syncs-before.Syncs != 7 || s.SyncedCalls-before.SyncedCalls != 5 {
		t.Errorf("%+v, want 7 syncs for 5 calls", s)
	}
	f.syncHook = nil
}

func TestAsyncMetadata(t *testing.T) {
	f := open(t, Config{AsyncMetadata: true})
	create(t, f, f.root, "one", "")
	if s := f.Stats(); s.Syncs != 0 || f.Describe().Durable {
		t.Errorf("%+v, %+v", s, f.Describe())
	}
	f.SetAsyncMetadata(false)
	create(t, f, f.root, "two", "")
	if s := f.Stats(); s.Syncs == 0 || !f.Describe().Durable {
		t.Errorf("%+v, %+v", s, f.Describe())
	}
}

// TestEveryChangeIsSynced counts what each change of names has synced.
func TestEveryChangeIsSynced(t *testing.T) {
	f := open(t, Config{})
	a, b := mkdir(t, f, f.root, "a"), mkdir(t, f, f.root, "b")
	file := create(t, f, a, "file", "")
	var syncs []target
	f.syncHook = func(t target) error { syncs = append(syncs, t); return nil }
	one := &vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o600}
	for _, tc := range []struct {
		name string
		want int
		do   func() error
	}{
		{"create", 2, func() error {
			_, err := f.Create(root(), a, "new", vfs.CreateGuarded, [8]byte{}, one, nil, nil)
			return err
		}},
		{"create of what is there", 0, func() error {
			_, err := f.Create(root(), a, "new", vfs.CreateUnchecked, [8]byte{}, one, nil, nil)
			return err
		}},
		{"create that cuts", 1, func() error {
			_, err := f.Create(root(), a, "new", vfs.CreateUnchecked, [8]byte{}, &vfs.SetAttr{Mask: vfs.AttrSize}, nil, nil)
			return err
		}},
		{"mkdir", 2, func() error { _, err := f.Mkdir(root(), a, "dir", one, nil, nil); return err }},
		{"symlink", 1, func() error { _, err := f.Symlink(root(), a, "link", "to", one, nil, nil); return err }},
		{"mknod", 1, func() error {
			_, err := f.Mknod(root(), a, "fifo", vfs.TypeFIFO, 0, 0, one, nil, nil)
			return err
		}},
		{"link", 2, func() error { return f.Link(root(), file, b, "other", nil, nil) }},
		{"rename", 3, func() error { return f.Rename(root(), a, "new", b, "new", nil, nil) }},
		{"rename within", 2, func() error { return f.Rename(root(), b, "new", b, "newer", nil, nil) }},
		{"remove", 1, func() error { return f.Remove(root(), b, "newer", nil) }},
		{"rmdir", 1, func() error { return f.Rmdir(root(), a, "dir", nil) }},
		{"setattr", 1, func() error { return f.Setattr(root(), file, one, nil, nil) }},
		{"setattr of nothing", 0, func() error { return f.Setattr(root(), file, new(vfs.SetAttr), nil, nil) }},
	} {
		syncs = nil
		if err := tc.do(); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if len(syncs) != tc.want {
			t.Errorf("%s: %d syncs, want %d", tc.name, len(syncs), tc.want)
		}
	}
	f.syncHook = nil
}

func TestFailedSync(t *testing.T) {
	f := open(t, Config{AsyncMetadata: true})
	o := create(t, f, f.root, "file", "")
	f.syncHook = func(target) error { return errors.New("the disk is gone") }
	verifier := f.currentVerifier()
	if _, _, v, err := f.Write(root(), o, []byte("x"), 0, vfs.Unstable, nil); v != verifier || err != nil {
		t.Errorf("unstable: %x, %v", v, err)
	}
	if v, err := f.Commit(root(), o, 0, 0, nil); v == verifier || err != vfs.ErrIO {
		t.Errorf("commit: verifier %x, was %x, %v", v, verifier, err)
	}
	verifier = f.currentVerifier()
	if _, _, _, err := f.Write(root(), o, []byte("x"), 0, vfs.FileSync, nil); err != vfs.ErrIO || f.currentVerifier() == verifier {
		t.Errorf("stable: %v", err)
	}
	f.SetAsyncMetadata(false)
	if _, err := f.Mkdir(root(), f.root, "dir", new(vfs.SetAttr), nil, nil); err != vfs.ErrIO {
		t.Errorf("mkdir: %v", err)
	}
	if s := f.Stats(); s.SyncErrors < 3 {
		t.Errorf("%+v", s)
	}
	f.syncHook = nil
}

// TestFailedGroup has one sync fail for all its members.
func TestFailedGroup(t *testing.T) {
	f := open(t, Config{AsyncMetadata: true})
	o := create(t, f, f.root, "file", "")
	g := newGate(f)
	done := make(chan error, 4)
	write(f, o, 0, vfs.FileSync, done)
	<-g.began
	for n := 1; n < 4; n++ {
		write(f, o, n, vfs.FileSync, done)
	}
	waiting(&o.(*inode).commits, 3)
	g.end <- nil
	<-g.began
	g.end <- errors.New("the disk is gone")
	var failed int
	for range 4 {
		if err := <-done; err == vfs.ErrIO {
			failed++
		} else if err != nil {
			t.Error(err)
		}
	}
	if failed != 3 {
		t.Errorf("%d calls failed, want 3", failed)
	}
	f.syncHook = nil
}

// TestEvictionSyncs gives up descriptors of files with uncommitted data.
func TestEvictionSyncs(t *testing.T) {
	f := open(t, Config{MaxOpenFiles: 16, AsyncMetadata: true})
	var mu sync.Mutex
	syncs := 0
	fail := false
	f.syncHook = func(target) error {
		mu.Lock()
		defer mu.Unlock()
		syncs++
		if fail {
			return errors.New("the disk is gone")
		}
		return nil
	}
	for n := range 200 {
		create(t, f, f.root, fmt.Sprint(n), "contents")
	}
	s := f.Stats()
	if s.OpenFiles > 17 || int(s.PendingFiles) != 200-syncs {
		t.Errorf("%+v with %d syncs, want at most 17 open files, and all others synced", s, syncs)
	}
	verifier := f.currentVerifier()
	fail = true
	for n := range 200 {
		if got, err := read(f, lookup(t, f, f.root, fmt.Sprint(n))); got != "contents" || err != nil {
			t.Fatalf("%d: %q, %v", n, got, err)
		}
	}
	if f.currentVerifier() == verifier {
		t.Error("a failed sync at eviction did not change the verifier")
	}
	fail = false
	f.syncHook = nil
}

// TestCloseSyncs closes an FS with uncommitted data.
func TestCloseSyncs(t *testing.T) {
	f, err := Open(Config{Root: t.TempDir(), AsyncMetadata: true})
	noError(t, err)
	create(t, f, f.root, "file", "contents")
	create(t, f, f.root, "empty", "")
	noError(t, f.Close())
	if s := f.Stats(); s.Syncs != 1 || s.OpenFiles != 0 || s.PendingFiles != 0 {
		t.Errorf("%+v, want 1 sync and nothing open", s)
	}
}

// TestRemovedFileIsClosed looks whether the space of a removed file is free.
func TestRemovedFileIsClosed(t *testing.T) {
	dir := t.TempDir()
	f := open(t, Config{Root: dir, AsyncMetadata: true})
	open := f.Stats().OpenFiles
	for n := range 10 {
		name := fmt.Sprint(n)
		create(t, f, f.root, name, "contents")
		if n%2 == 0 {
			noError(t, f.Remove(root(), f.root, name, nil))
			continue
		}
		create(t, f, f.root, "new", "")
		noError(t, f.Rename(root(), f.root, "new", f.root, name, nil, nil))
		noError(t, f.Remove(root(), f.root, name, nil))
	}
	if s := f.Stats(); s.OpenFiles != open || s.PendingFiles != 0 {
		t.Errorf("%+v, want %d open files", s, open)
	}
	for fd := range 100 {
		if to, err := f.pathOf(fd); err == nil && strings.HasPrefix(to, dir) && strings.HasSuffix(to, " (deleted)") {
			t.Errorf("open: %s", to)
		}
	}
}
