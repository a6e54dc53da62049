package local

import (
	"math"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// statFile is stat for a regular file whose data the caller may use as want
// says.
func (f *FS) statFile(c *vfs.Call, i *inode, st *unix.Statx_t, want vfs.Perm) error {
	if err := f.stat(c, i, st); err != nil {
		return err
	}
	switch i.typ {
	case vfs.TypeRegular:
		return f.checkData(c, i, st, want)
	case vfs.TypeDirectory:
		return vfs.ErrIsDir
	}
	return vfs.ErrInvalid
}

// Read reads a regular file. Without MayWait it reads what is in memory.
func (f *FS) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (n int, eof bool, err error) {
	i := o.(*inode)
	var st unix.Statx_t
	if err := f.statFile(c, i, &st, vfs.PermRead); err != nil {
		return 0, false, err
	}
	f.leave(c, i, &st)
	if off >= st.Size {
		return 0, true, nil
	}
	h, err := f.hold(c, i, gradeRead)
	if err != nil {
		return 0, false, err
	}
	defer h.release()
	p = p[:min(uint64(len(p)), st.Size-off)]
	if c.MayWait {
		n, err = pread(h.fd, p, int64(off))
	} else {
		n, err = preadNoWait(h.fd, p, int64(off))
		if err == unix.EAGAIN || err == unix.EOPNOTSUPP || err == unix.ENOSYS || err == nil && n < len(p) {
			err = vfs.ErrWouldBlock
		}
	}
	if err != nil {
		return 0, false, vfs.Cause(err)
	}
	// Less than there was: the file has been cut.
	return n, n < len(p) || off+uint64(n) == st.Size, nil
}

// pread reads until p is full or the file ends.
func pread(fd int, p []byte, off int64) (n int, err error) {
	for n < len(p) {
		k, err := unix.Pread(fd, p[n:], off+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, err
		}
		if k == 0 {
			break
		}
		n += k
	}
	return n, nil
}

// pwrite writes all of p, or what fits.
func pwrite(fd int, p []byte, off int64) (n int, err error) {
	for n < len(p) {
		k, err := unix.Pwrite(fd, p[n:], off+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, err
		}
		n += k
	}
	return n, nil
}

// Write writes to a regular file, as the caller: so set-id bits fall, and
// quotas and reserved blocks hold.
func (f *FS) Write(c *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, chg *vfs.Change) (n int, did vfs.Stability, v vfs.Verifier, err error) {
	i := o.(*inode)
	v = f.currentVerifier()
	switch {
	case !c.MayWait && how == vfs.Unstable:
		return 0, 0, v, vfs.ErrBrief
	case !c.MayWait:
		return 0, 0, v, vfs.ErrWouldBlock
	case i.isDir():
		return 0, 0, v, vfs.ErrIsDir
	case i.typ != vfs.TypeRegular:
		return 0, 0, v, vfs.ErrInvalid
	case off > math.MaxInt64 || uint64(len(data)) > math.MaxInt64-off:
		return 0, 0, v, vfs.ErrFileTooBig
	}
	h, n, err := f.write(c, i, data, off, chg)
	if h == nil {
		return 0, 0, v, err
	}
	defer h.release()
	if n == 0 && err != nil {
		return 0, 0, v, vfs.Cause(err)
	}
	if how != vfs.Unstable {
		if err := f.commit(i, h, how == vfs.FileSync); err != nil {
			return 0, 0, v, err
		}
	}
	return n, how, v, nil
}

// write writes, and returns the descriptor it has written to, if it came so far.
func (f *FS) write(c *vfs.Call, i *inode, data []byte, off uint64, chg *vfs.Change) (h *file, n int, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var st unix.Statx_t
	if err := f.statFile(c, i, &st, vfs.PermWrite); err != nil {
		return nil, 0, err
	}
	if h, err = f.hold(c, i, gradeWrite); err != nil {
		return nil, 0, err
	}
	var x change
	f.begin(&x, chg, i, &st)
	if len(data) > 0 {
		f.soil(i)
		as := f.server.as(c, 0)
		n, err = pwrite(h.fd, data, int64(off))
		as.done()
		// The descriptor may have been given up, and the data been taken for
		// synced, while they were being written.
		f.soil(i)
		f.keep(c, i, h)
	}
	f.end(&x, i, h.fd, n > 0)
	return h, n, err
}

// keep makes h the inode's cached descriptor if it has none: errors of writing
// back are told to the descriptor that has written.
func (f *FS) keep(c *vfs.Call, i *inode, h *file) {
	if i.file.Load() != nil {
		return
	}
	h.refs.Add(1)
	if !i.file.CompareAndSwap(nil, h) || !f.files.add(c, f, i) && i.file.CompareAndSwap(h, nil) {
		h.release()
	}
}

// Commit makes all of a file's data durable. It changes no attributes, and says
// nothing about what others have changed while it went on.
func (f *FS) Commit(c *vfs.Call, o vfs.Object, _, _ uint64, _ *vfs.Change) (vfs.Verifier, error) {
	if !c.MayWait {
		return vfs.Verifier{}, vfs.ErrWouldBlock
	}
	i := o.(*inode)
	var st unix.Statx_t
	err := f.statFile(c, i, &st, vfs.PermWrite)
	switch err {
	case nil:
		err = f.commitFile(c, i)
	case vfs.ErrReadOnly:
		err = nil // who made it so has made its data safe
	}
	return f.currentVerifier(), err
}

func (f *FS) commitFile(c *vfs.Call, i *inode) error {
	h, err := f.hold(c, i, gradeRead)
	if err != nil {
		return err
	}
	defer h.release()
	return f.commit(i, h, true)
}
