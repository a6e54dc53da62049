package clients

import (
	"maps"
	"strings"
	"sync"

	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
)

// procedure is one of a version of a program.
type procedure struct{ prog, vers, proc uint32 }

func (p procedure) String() string {
	switch {
	case p.prog == nfs3.NFS_PROGRAM:
		return "NFS " + nfs3.NFSV3ProcName(p.proc)
	case p.vers == nfs3.MOUNT_V3:
		return "MOUNT " + nfs3.MOUNTV3ProcName(p.proc)
	default:
		return "MOUNT 1 " + nfs3.MOUNTV1ProcName(p.proc)
	}
}

// calls counts what a server is asked. It is an [rpc.Observer].
type calls struct {
	mu              sync.Mutex
	served, refused map[procedure]int
}

func newCalls() *calls {
	return &calls{served: make(map[procedure]int), refused: make(map[procedure]int)}
}

func (c *calls) Begin(*rpc.Call) int64 { return 0 }

func (c *calls) End(h *rpc.Call, _ int64, s rpc.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := procedure{h.Prog, h.Vers, h.Proc}
	if s == rpc.StatusSuccess {
		c.served[p]++
	} else {
		c.refused[p]++
	}
}

// watched is a memfs that remembers how it was used.
type watched struct {
	*memfs.FS

	// signal, if not nil, is called when a client makes a directory whose name
	// begins with "signal-", before that is answered.
	signal func(name string)

	mu            sync.Mutex
	reads, writes map[int]int // number of them by their length
	exclusive     int         // creates
}

func watch(fs *memfs.FS) *watched {
	return &watched{FS: fs, reads: make(map[int]int), writes: make(map[int]int)}
}

func (w *watched) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (n int, eof bool, err error) {
	n, eof, err = w.FS.Read(c, o, p, off)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads[n]++
	return n, eof, err
}

func (w *watched) Write(c *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	w.mu.Lock()
	w.writes[len(data)]++
	w.mu.Unlock()
	return w.FS.Write(c, o, data, off, how, chg)
}

func (w *watched) Create(c *vfs.Call, dir vfs.Object, name string, how vfs.CreateMode, verf [8]byte, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	if how == vfs.CreateExclusive {
		w.mu.Lock()
		w.exclusive++
		w.mu.Unlock()
	}
	return w.FS.Create(c, dir, name, how, verf, s, attr, dirChg)
}

func (w *watched) Mkdir(c *vfs.Call, dir vfs.Object, name string, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	if w.signal != nil && strings.HasPrefix(name, "signal-") {
		if !c.MayWait {
			return nil, vfs.ErrWouldBlock
		}
		w.signal(name)
	}
	return w.FS.Mkdir(c, dir, name, s, attr, dirChg)
}

// lengths returns the numbers of READs and WRITEs by length.
func (w *watched) lengths() (reads, writes map[int]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.reads), maps.Clone(w.writes)
}
