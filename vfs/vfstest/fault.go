package vfstest

import (
	"sync"

	"eddy.example/bufpool"
	"eddy.example/vfs"
)

// Method names a method of a backend, for FaultFS.
type Method string

// The methods that FaultFS can make fail and stop. AppendHandle and Limits are
// not among them: they have no error and don't block.
const (
	Resolve     Method = "Resolve"
	Lookup      Method = "Lookup"
	Getattr     Method = "Getattr"
	Read        Method = "Read"
	ReadDir     Method = "ReadDir"
	ReadSegment Method = "ReadSegment"
	Readlink    Method = "Readlink"
	Access      Method = "Access"
	Statfs      Method = "Statfs"
	Write       Method = "Write"
	Commit      Method = "Commit"
	Setattr     Method = "Setattr"
	Create      Method = "Create"
	Mkdir       Method = "Mkdir"
	Symlink     Method = "Symlink"
	Mknod       Method = "Mknod"
	Remove      Method = "Remove"
	Rmdir       Method = "Rmdir"
	Rename      Method = "Rename"
	Link        Method = "Link"
)

// FaultFS is a backend in front of another that fails and stops when a test
// says so. It has every optional interface but vfs.Waiter (see
// [FaultFS.Waiter]); what the other lacks is answered vfs.ErrNotSupported. All
// methods may be called concurrently.
type FaultFS struct {
	fs   vfs.FS
	caps vfs.Capabilities

	mu    sync.Mutex
	calls map[Method]int
	fails map[Method]map[int]error // by the number of the call
	stops map[Method]*Stop
}

// NewFaultFS puts a FaultFS in front of fs.
func NewFaultFS(fs vfs.FS) *FaultFS {
	return &FaultFS{
		fs: fs, caps: vfs.CapabilitiesOf(fs),
		calls: make(map[Method]int),
		fails: make(map[Method]map[int]error),
		stops: make(map[Method]*Stop),
	}
}

// Fail makes a call of m fail with err before anything is done: the next one
// if n is 1, the one after that if n is 2.
func (f *FaultFS) Fail(m Method, n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails[m] == nil {
		f.fails[m] = make(map[int]error)
	}
	f.fails[m][f.calls[m]+n] = err
}

// Calls is how often m was called. A call that was answered
// vfs.ErrWouldBlock for a Stop and came again is one.
func (f *FaultFS) Calls(m Method) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[m]
}

// Stop makes all calls of m wait from now on, before anything is done, until
// the Stop is released or the call's context ends; then it is answered with
// the context's error. A call that may not wait is answered
// vfs.ErrWouldBlock. One Stop of a method is in force at a time.
func (f *FaultFS) Stop(m Method) *Stop {
	s := &Stop{entered: make(chan struct{}, 1<<16), released: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stops[m] = s
	return s
}

// Stop holds calls.
type Stop struct {
	entered, released chan struct{}
	once              sync.Once
}

// Entered has a value for each call that has come to wait, up to 65536.
func (s *Stop) Entered() <-chan struct{} { return s.entered }

// Release lets all calls go on, those that wait and those that come.
func (s *Stop) Release() { s.once.Do(func() { close(s.released) }) }

// enter is the beginning of each method.
func (f *FaultFS) enter(c *vfs.Call, m Method) error {
	f.mu.Lock()
	stop := f.stops[m]
	if stop != nil {
		select {
		case <-stop.released:
			stop = nil
		default:
		}
	}
	if stop != nil && !c.MayWait {
		f.mu.Unlock()
		return vfs.ErrWouldBlock
	}
	f.calls[m]++
	n := f.calls[m]
	err := f.fails[m][n]
	delete(f.fails[m], n)
	f.mu.Unlock()

	if stop != nil {
		select {
		case stop.entered <- struct{}{}:
		default:
		}
		select {
		case <-stop.released:
		case <-c.Context.Done():
			return c.Context.Err()
		}
	}
	return err
}

// Waiter returns f as a backend that declares vfs.Waiter: its calls run where
// nothing may wait, and come again elsewhere while they are stopped. The
// backend behind it has to be a Waiter too.
func (f *FaultFS) Waiter() vfs.FS {
	if !f.caps.MayWait {
		panic("vfstest: the backend behind the FaultFS is no vfs.Waiter")
	}
	return waiter{f}
}

type waiter struct{ *FaultFS }

func (waiter) HonoursMayWait() {}

func (f *FaultFS) Resolve(c *vfs.Call, h []byte) (vfs.Object, error) {
	if err := f.enter(c, Resolve); err != nil {
		return nil, err
	}
	return f.fs.Resolve(c, h)
}

func (f *FaultFS) AppendHandle(b []byte, o vfs.Object) []byte { return f.fs.AppendHandle(b, o) }

func (f *FaultFS) Lookup(c *vfs.Call, dir vfs.Object, name string, attr *vfs.Attr) (vfs.Object, error) {
	if err := f.enter(c, Lookup); err != nil {
		return nil, err
	}
	return f.fs.Lookup(c, dir, name, attr)
}

func (f *FaultFS) Getattr(c *vfs.Call, o vfs.Object, want vfs.AttrMask, attr *vfs.Attr) error {
	if err := f.enter(c, Getattr); err != nil {
		return err
	}
	return f.fs.Getattr(c, o, want, attr)
}

func (f *FaultFS) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (int, bool, error) {
	if err := f.enter(c, Read); err != nil {
		return 0, false, err
	}
	return f.fs.Read(c, o, p, off)
}

func (f *FaultFS) ReadDir(c *vfs.Call, dir vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (bool, error) {
	if err := f.enter(c, ReadDir); err != nil {
		return false, err
	}
	return f.fs.ReadDir(c, dir, after, want, fill)
}

func (f *FaultFS) ReadSegment(c *vfs.Call, o vfs.Object, off uint64, n int) (bufpool.Segment, bool, error) {
	if f.caps.Segment == nil {
		return bufpool.Segment{}, false, vfs.ErrNotSupported
	}
	if err := f.enter(c, ReadSegment); err != nil {
		return bufpool.Segment{}, false, err
	}
	return f.caps.Segment.ReadSegment(c, o, off, n)
}

func (f *FaultFS) Readlink(c *vfs.Call, o vfs.Object) (string, error) {
	if f.caps.Readlink == nil {
		return "", vfs.ErrNotSupported
	}
	if err := f.enter(c, Readlink); err != nil {
		return "", err
	}
	return f.caps.Readlink.Readlink(c, o)
}

// Access answers from the attributes where the other backend does not answer.
func (f *FaultFS) Access(c *vfs.Call, o vfs.Object, want vfs.Access) (vfs.Access, error) {
	if err := f.enter(c, Access); err != nil {
		return 0, err
	}
	if f.caps.Access != nil {
		return f.caps.Access.Access(c, o, want)
	}
	var a vfs.Attr
	if err := f.fs.Getattr(c, o, vfs.AttrBasic, &a); err != nil {
		return 0, err
	}
	return f.caps.DefaultAccess(&c.Cred, &a, want), nil
}

func (f *FaultFS) Statfs(c *vfs.Call, o vfs.Object, s *vfs.Statfs) error {
	if f.caps.Statfs == nil {
		return vfs.ErrNotSupported
	}
	if err := f.enter(c, Statfs); err != nil {
		return err
	}
	return f.caps.Statfs.Statfs(c, o, s)
}

func (f *FaultFS) Limits() vfs.Limits { return f.caps.Limits }

func (f *FaultFS) Write(c *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	if f.caps.Write == nil {
		return 0, how, vfs.Verifier{}, vfs.ErrNotSupported
	}
	if err := f.enter(c, Write); err != nil {
		return 0, how, vfs.Verifier{}, err
	}
	return f.caps.Write.Write(c, o, data, off, how, chg)
}

func (f *FaultFS) Commit(c *vfs.Call, o vfs.Object, off, n uint64, chg *vfs.Change) (vfs.Verifier, error) {
	if f.caps.Commit == nil {
		return vfs.Verifier{}, vfs.ErrNotSupported
	}
	if err := f.enter(c, Commit); err != nil {
		return vfs.Verifier{}, err
	}
	return f.caps.Commit.Commit(c, o, off, n, chg)
}

func (f *FaultFS) Setattr(c *vfs.Call, o vfs.Object, s *vfs.SetAttr, guard *vfs.Time, chg *vfs.Change) error {
	if f.caps.Setattr == nil {
		return vfs.ErrNotSupported
	}
	if err := f.enter(c, Setattr); err != nil {
		return err
	}
	return f.caps.Setattr.Setattr(c, o, s, guard, chg)
}

func (f *FaultFS) Create(c *vfs.Call, dir vfs.Object, name string, how vfs.CreateMode, verf [8]byte, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	if f.caps.Create == nil {
		return nil, vfs.ErrNotSupported
	}
	if err := f.enter(c, Create); err != nil {
		return nil, err
	}
	return f.caps.Create.Create(c, dir, name, how, verf, s, attr, dirChg)
}

func (f *FaultFS) Mkdir(c *vfs.Call, dir vfs.Object, name string, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	if f.caps.Mkdir == nil {
		return nil, vfs.ErrNotSupported
	}
	if err := f.enter(c, Mkdir); err != nil {
		return nil, err
	}
	return f.caps.Mkdir.Mkdir(c, dir, name, s, attr, dirChg)
}

func (f *FaultFS) Symlink(c *vfs.Call, dir vfs.Object, name, target string, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	if f.caps.Symlink == nil {
		return nil, vfs.ErrNotSupported
	}
	if err := f.enter(c, Symlink); err != nil {
		return nil, err
	}
	return f.caps.Symlink.Symlink(c, dir, name, target, s, attr, dirChg)
}

func (f *FaultFS) Mknod(c *vfs.Call, dir vfs.Object, name string, t vfs.Type, major, minor uint32, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	if f.caps.Mknod == nil {
		return nil, vfs.ErrNotSupported
	}
	if err := f.enter(c, Mknod); err != nil {
		return nil, err
	}
	return f.caps.Mknod.Mknod(c, dir, name, t, major, minor, s, attr, dirChg)
}

func (f *FaultFS) Remove(c *vfs.Call, dir vfs.Object, name string, dirChg *vfs.Change) error {
	if f.caps.Remove == nil {
		return vfs.ErrNotSupported
	}
	if err := f.enter(c, Remove); err != nil {
		return err
	}
	return f.caps.Remove.Remove(c, dir, name, dirChg)
}

func (f *FaultFS) Rmdir(c *vfs.Call, dir vfs.Object, name string, dirChg *vfs.Change) error {
	if f.caps.Rmdir == nil {
		return vfs.ErrNotSupported
	}
	if err := f.enter(c, Rmdir); err != nil {
		return err
	}
	return f.caps.Rmdir.Rmdir(c, dir, name, dirChg)
}

func (f *FaultFS) Rename(c *vfs.Call, from vfs.Object, fromName string, to vfs.Object, toName string, fromChg, toChg *vfs.Change) error {
	if f.caps.Rename == nil {
		return vfs.ErrNotSupported
	}
	if err := f.enter(c, Rename); err != nil {
		return err
	}
	return f.caps.Rename.Rename(c, from, fromName, to, toName, fromChg, toChg)
}

func (f *FaultFS) Link(c *vfs.Call, o vfs.Object, dir vfs.Object, name string, attr *vfs.Attr, dirChg *vfs.Change) error {
	if f.caps.Link == nil {
		return vfs.ErrNotSupported
	}
	if err := f.enter(c, Link); err != nil {
		return err
	}
	return f.caps.Link.Link(c, o, dir, name, attr, dirChg)
}
