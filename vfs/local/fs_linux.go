package local

import (
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"eddy.example/vfs"
	"eddy.example/vfs/local/handlemap"
)

// FS is a directory of this host as a backend. All methods may be called
// concurrently.
type FS struct {
	log         *zap.Logger
	clock       Clock
	server      *server
	seed        maphash.Seed
	wantHandles Handles
	crossMounts bool
	// beneathFlags is how names are resolved: RESOLVE_X.
	beneathFlags uint64
	procFDs      int  // /proc/self/fd, or -1
	oldKernel    bool // there is no openat2

	root   *inode
	fsType string
	mounts mounts
	inodes table
	names  names
	files  fileCache
	rows   *handlemap.Map
	search search

	async    atomic.Bool
	source   atomic.Int32 // ReadSource
	verifier atomic.Uint64

	openFiles, pending             atomic.Int64
	syncs, syncedCalls, syncErrors atomic.Int64

	closing chan struct{}
	tidier  sync.WaitGroup

	// syncHook, if not nil, is called instead of the kernel: tests count and
	// stop syncs, and let them fail.
	syncHook func(target) error
}

var _ interface {
	vfs.FS
	vfs.Waiter
	vfs.SegmentReader
	vfs.LinkReader
	vfs.Accesser
	vfs.Statfser
	vfs.Limiter
	vfs.Statser
	vfs.Writer
	vfs.Committer
	vfs.AttrSetter
	vfs.Creator
	vfs.Mkdirer
	vfs.Symlinker
	vfs.Mknoder
	vfs.Remover
	vfs.Rmdirer
	vfs.Renamer
	vfs.Linker
} = (*FS)(nil)

// HonoursMayWait says that a call that may not wait uses what the kernel has in
// memory, or returns vfs.ErrWouldBlock.
func (f *FS) HonoursMayWait() {}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

// Open opens a directory. The caller closes the FS.
func Open(c Config) (*FS, error) {
	f := &FS{
		log: c.Log, clock: c.Clock, seed: maphash.MakeSeed(),
		wantHandles: c.Handles, crossMounts: c.CrossMounts,
		beneathFlags: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		closing:      make(chan struct{}),
	}
	if f.log == nil {
		f.log = zap.NewNop()
	}
	if f.clock == nil {
		f.clock = systemClock{}
	}
	if !f.crossMounts {
		f.beneathFlags |= unix.RESOLVE_NO_XDEV
	}
	f.search.fs = f
	f.async.Store(c.AsyncMetadata)
	f.SetReadSource(c.ReadSource)
	f.newVerifier()
	limit, err := openFileLimit(c.MaxOpenFiles)
	if err != nil {
		return nil, err
	}
	f.files.limit = max(1, limit/len(f.files.shards))
	f.names = makeNames(f.seed, limit)
	if f.server, err = newServer(); err != nil {
		return nil, err
	}
	if f.procFDs, err = unix.Open("/proc/self/fd", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		f.procFDs = -1
	}
	err = f.openRoot(c.Root)
	if err == nil {
		err = f.openRows(&c)
	}
	if err != nil {
		f.closeFDs()
		return nil, err
	}
	f.tidier.Go(f.tidy)
	return f, nil
}

// openFileLimit is how many descriptors are kept.
func openFileLimit(want int) (int, error) {
	if want > 0 {
		return want, nil
	}
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return 0, err
	}
	return int(min(r.Cur/4, 4096)), nil
}

// openRoot opens the directory that is served.
func (f *FS) openRoot(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	m, err := newMount(fd, f.wantHandles)
	if err != nil {
		unix.Close(fd)
		return fmt.Errorf("%s: %w", path, err)
	}
	f.mounts.all = []*mount{m}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: f.beneathFlags}
	if probe, err := openat2(fd, here.ptr(), &how); err == nil {
		unix.Close(probe)
	} else {
		f.oldKernel = true // before 5.6, or a sandbox
	}
	var st unix.Statx_t
	var s unix.Statfs_t
	if err := errors.Join(fstatx(fd, &st), unix.Fstatfs(fd, &s)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	f.fsType = fsTypeName(uint32(s.Type))
	if f.root, err = f.identify(m, fd, &st); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	// The root's descriptor is not the cache's to close.
	own, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	f.root.file.Store(f.newFile(m, own, gradeRead))
	return nil
}

// openRows opens the map of places.
func (f *FS) openRows(c *Config) (err error) {
	most := c.MaxHandles
	if most <= 0 {
		most = 1 << 20
	}
	dir := c.State
	if dir != "" {
		inside, err := Contains(c.Root, dir)
		if err == nil && inside {
			err = ErrStateInRoot
		}
		if err != nil {
			return fmt.Errorf("state %s of %s: %w", dir, c.Root, err)
		}
		dir = filepath.Join(dir, "places")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	f.rows, err = handlemap.Open(dir, most)
	return err
}

// Close makes what is pending durable and closes everything. No call may be
// under way.
func (f *FS) Close() error {
	close(f.closing)
	f.tidier.Wait()
	f.search.wg.Wait()
	failed := f.syncErrors.Load()
	f.files.clear(f)
	err := f.rows.Close()
	f.closeFDs()
	if f.syncErrors.Load() > failed {
		err = errors.Join(err, vfs.ErrIO)
	}
	return err
}

func (f *FS) closeFDs() {
	if f.root != nil && f.root.file.Load() != nil {
		f.root.file.Load().release()
	}
	for _, m := range f.mounts.all {
		unix.Close(m.root)
	}
	if f.procFDs >= 0 {
		unix.Close(f.procFDs)
	}
}

func (f *FS) isClosing() bool {
	select {
	case <-f.closing:
		return true
	default:
		return false
	}
}

// SetAsyncMetadata switches Config.AsyncMetadata.
func (f *FS) SetAsyncMetadata(on bool) { f.async.Store(on) }

// SetReadSource switches Config.ReadSource, from the next READ on.
func (f *FS) SetReadSource(s ReadSource) { f.source.Store(int32(s)) }

// Describe says how the directory is served.
func (f *FS) Describe() Description {
	d := Description{Handles: HandlesMap, Durable: !f.async.Load(), ReadSource: ReadSource(f.source.Load()), FSType: f.fsType}
	if f.root.mount.kernel {
		d.Handles = HandlesKernel
	}
	if f.server.clients {
		d.Identity = IdentityClients
	}
	return d
}

// Stats tells what is held and what was done.
func (f *FS) Stats() vfs.Stats {
	return vfs.Stats{
		OpenFiles: f.openFiles.Load(), PendingFiles: f.pending.Load(), HandleRows: int64(f.rows.Len()),
		Syncs: f.syncs.Load(), SyncedCalls: f.syncedCalls.Load(), SyncErrors: f.syncErrors.Load(),
	}
}

// Statfs reports the size of the file system that the object lies on.
func (f *FS) Statfs(c *vfs.Call, o vfs.Object, out *vfs.Statfs) error {
	if !c.MayWait {
		return vfs.ErrWouldBlock
	}
	i := o.(*inode)
	var st unix.Statx_t
	if err := f.stat(c, i, &st); err != nil {
		return err
	}
	var s unix.Statfs_t
	if err := unix.Fstatfs(i.mount.root, &s); err != nil {
		return vfs.Cause(err)
	}
	unit := uint64(s.Frsize)
	if unit == 0 {
		unit = uint64(s.Bsize)
	}
	*out = vfs.Statfs{
		TotalBytes: s.Blocks * unit, FreeBytes: s.Bfree * unit, AvailBytes: min(s.Bavail, s.Bfree) * unit,
		TotalFiles: s.Files, FreeFiles: s.Ffree, AvailFiles: s.Ffree,
	}
	return nil
}

// Limits are the kernel's.
func (f *FS) Limits() vfs.Limits { return vfs.DefaultLimits() }

// fsTypeName is the name of a file system by its magic number.
func fsTypeName(magic uint32) string {
	switch magic {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay"
	case unix.F2FS_SUPER_MAGIC:
		return "f2fs"
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	}
	return "0x" + strconv.FormatUint(uint64(magic), 16)
}
