package pathfs

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"eddy.example/vfs"
)

func newUser(t testing.TB, c Config) (user, dirStore) {
	store := newDirStore(t)
	return user{t, New(store, c)}, store
}

// wantStale checks that a handle names nothing any more.
func (u user) wantStale(what string, h []byte) {
	u.Helper()
	if got, err := u.read(h); vfs.Cause(err) != vfs.ErrStale {
		u.Errorf("%s: %q, %v, want vfs.ErrStale", what, got, err)
	}
}

func (u user) wantData(what string, h []byte, want string) {
	u.Helper()
	if got, err := u.read(h); got != want || err != nil {
		u.Errorf("%s: %q, %v, want %q", what, got, err, want)
	}
}

// Rows come and go, handles hold: also through the rename of a directory whose
// objects have no rows, and for what was renamed itself.
func TestEviction(t *testing.T) {
	const max = 40
	u := user{t, New(newMemStore(), Config{MaxRows: max})}
	handles := map[string][]byte{}
	var dirs []vfs.Object
	for i := range 10 {
		dir := u.mkdir(u.fs.table.root, fmt.Sprint("d", i))
		dirs = append(dirs, dir)
		for k := range 20 {
			name := fmt.Sprintf("%d/%d", i, k)
			handles[name] = u.handle(u.create(dir, fmt.Sprint(k), name))
		}
	}
	check := func(what string) {
		t.Helper()
		for name, h := range handles {
			u.wantData(what+": "+name, h, name)
			if n := u.fs.table.len(); n > max {
				t.Errorf("%s: %d rows", what, n)
			}
		}
	}
	check("at first")
	root := u.fs.table.root
	for i := range dirs {
		u.rename(root, fmt.Sprint("d", i), root, fmt.Sprint("moved", i))
	}
	check("after renames of the directories")
	dir, other := u.lookup(root, "moved3"), u.lookup(root, "moved4")
	for k := range 8 {
		u.rename(dir, fmt.Sprint(k), other, fmt.Sprint("from3-", k))
	}
	check("after renames of files")
	// A name that is used again is another object.
	again := u.handle(u.create(dir, "0", "again"))
	check("after a name was used again")
	u.wantData("the new one", again, "again")
	u.remove(dir, "0")
	u.wantStale("the new one, removed", again)
	check("after its removal")
	u.remove(other, "from3-0")
	u.wantStale("a file that was renamed and removed", handles["3/0"])
}

// Removal is the end of a handle, whether it had a row or not, and whatever
// comes to the same path.
func TestRemoved(t *testing.T) {
	u, _ := newUser(t, Config{MaxRows: 4})
	root := u.fs.table.root
	var dead [][]byte
	for i := range 5 {
		h := u.handle(u.create(root, "name", fmt.Sprint(i)))
		for k := range 10 { // pressure
			u.create(root, fmt.Sprint(i, "-", k), "")
		}
		u.wantData("the living", h, fmt.Sprint(i))
		for _, d := range dead {
			u.wantStale("one of before", d)
		}
		u.remove(root, "name")
		u.wantStale("the removed", h)
		dead = append(dead, h)
	}
}

// What others do to the store is seen.
func TestBehindTheBack(t *testing.T) {
	u, store := newUser(t, Config{})
	root := u.fs.table.root
	o := u.create(root, "file", "data")
	h := u.handle(o)
	var before, after vfs.Attr
	getattr := func(a *vfs.Attr) {
		if err := u.fs.Getattr(u.call(), o, vfs.AttrBasic, a); err != nil {
			t.Fatal(err)
		}
	}
	getattr(&before)
	if _, err := store.WriteAt("file", []byte("longer data"), 0); err != nil {
		t.Fatal(err)
	}
	u.wantData("changed", h, "longer data")
	getattr(&after)
	if !before.Ctime.Before(after.Ctime) || after.Change <= before.Change || after.Size != 11 {
		t.Errorf("a change from %+v to %+v", before, after)
	}
	if err := store.Rename("file", "other"); err != nil {
		t.Fatal(err)
	}
	u.wantStale("renamed by others", h)
	u.lookup(root, "other")
	if err := store.Mkdir("file", 0o755); err != nil {
		t.Fatal(err)
	}
	dir := u.handle(u.lookup(root, "file"))
	u.wantStale("replaced by a directory", h)
	if err := store.Remove("file"); err != nil {
		t.Fatal(err)
	}
	if err := store.Create("file", 0o644); err != nil {
		t.Fatal(err)
	}
	u.wantStale("a directory replaced by a file", dir)
	u.wantData("the new one", u.handle(u.lookup(root, "file")), "")
}

func TestForeignHandles(t *testing.T) {
	store := newDirStore(t)
	u, other := user{t, New(store, Config{})}, user{t, New(store, Config{})}
	u.wantStale("another process's", other.handle(other.create(other.fs.table.root, "f", "x")))
	for _, h := range [][]byte{{1}, make([]byte, handleSize-1), make([]byte, handleSize+1)} {
		if _, err := u.fs.Resolve(u.call(), h); err != vfs.ErrBadHandle {
			t.Errorf("%x: %v", h, err)
		}
	}
}

// A search is bounded, and no answer is no "gone".
func TestSearchIsBounded(t *testing.T) {
	u, _ := newUser(t, Config{MaxRows: 8, MaxSearch: 10})
	root := u.fs.table.root
	h := u.handle(u.create(u.mkdir(root, "dir"), "file", "x"))
	for i := range 50 {
		u.create(root, fmt.Sprint(i), "")
	}
	u.fs.table.mu.Lock()
	for _, n := range u.fs.table.rows {
		if n.parent != nil {
			n.evicted = true
			u.fs.table.drop(n)
		}
	}
	u.fs.table.mu.Unlock()
	if got, err := u.read(h); err != vfs.ErrDelay {
		t.Errorf("%q, %v", got, err)
	}
	u.fs.maxSearch = 100
	u.wantData("with a longer search", h, "x")
}

// The time of change never goes back, though its row does.
func TestCtime(t *testing.T) {
	u, _ := newUser(t, Config{MaxRows: 4})
	root := u.fs.table.root
	h := u.handle(u.create(root, "file", "x"))
	ctime := func() vfs.Time {
		t.Helper()
		var a vfs.Attr
		o, err := u.fs.Resolve(u.call(), h)
		if err == nil {
			err = u.fs.Getattr(u.call(), o, vfs.AttrBasic, &a)
		}
		if err != nil {
			t.Fatal(err)
		}
		return a.Ctime
	}
	old := ctime()
	for i := range 20 {
		o, err := u.fs.Resolve(u.call(), h)
		if err != nil {
			t.Fatal(err)
		}
		s := vfs.SetAttr{SetMtime: vfs.TimeGiven, Mtime: vfs.Time{Sec: int64(1000 - i)}}
		if err := u.fs.Setattr(u.call(), o, &s, nil, nil); err != nil {
			t.Fatal(err)
		}
		for k := range 8 {
			u.create(root, fmt.Sprint(i, "-", k), "")
		}
		now := ctime()
		if !old.Before(now) {
			t.Errorf("ctime went from %v to %v", old, now)
		}
		old = now
	}
}

// Whatever happens, a handle finds its file as long as there is one.
func TestRandom(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { randomly(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func randomly(t *testing.T, r *rand.Rand) {
	const rows = 64
	type file struct {
		dir    int
		name   string
		handle []byte
		data   string
	}
	u := user{t, New(newMemStore(), Config{MaxRows: rows, Clock: fixed{}})}
	root := u.fs.table.root
	dirNames := make([]string, 6)
	for i := range dirNames {
		dirNames[i] = fmt.Sprint("dir", i)
		u.mkdir(root, dirNames[i])
	}
	dir := func(i int) vfs.Object { return u.lookup(root, dirNames[i]) }
	var files []*file
	var dead [][]byte
	renamed := 0
	for step := range 2000 {
		switch i := r.IntN(len(dirNames)); r.IntN(6) {
		case 0, 1:
			name := fmt.Sprint("f", r.IntN(60))
			if _, err := u.fs.Lookup(u.call(), dir(i), name, nil); err == nil {
				continue
			}
			data := fmt.Sprint("step ", step)
			files = append(files, &file{i, name, u.handle(u.create(dir(i), name, data)), data})
		case 2:
			if len(files) > 0 {
				k := r.IntN(len(files))
				u.remove(dir(files[k].dir), files[k].name)
				dead = append(dead, files[k].handle)
				dead = dead[max(0, len(dead)-16):] // longer ago is forgotten
				files = append(files[:k], files[k+1:]...)
			}
		case 3:
			to := fmt.Sprint("moved", step)
			u.rename(root, dirNames[i], root, to)
			dirNames[i] = to
		case 4:
			if len(files) > 0 && renamed < rows/3 {
				f := files[r.IntN(len(files))]
				to := fmt.Sprint("g", step)
				u.rename(dir(f.dir), f.name, dir(i), to)
				f.dir, f.name = i, to
				renamed++
			}
		case 5:
			if len(files) > 0 {
				f := files[r.IntN(len(files))]
				u.wantData(f.name, f.handle, f.data)
			}
			if len(dead) > 0 {
				u.wantStale("a dead one", dead[r.IntN(len(dead))])
			}
		}
		if t.Failed() {
			t.Fatalf("step %d", step)
		}
	}
	for _, f := range files {
		u.wantData(f.name, f.handle, f.data)
	}
}

type fixed struct{}

func (fixed) Now() time.Time { return time.Unix(2e9, 0) }
