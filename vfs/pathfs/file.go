package pathfs

import (
	"encoding/binary"
	"io"
	iofs "io/fs"
	"math"
	"time"

	"eddy.example/vfs"
)

// statFile is stat for a regular file. n.data is held.
func (f *FS) statFile(n *node, p string) (iofs.FileInfo, error) {
	if n.gone.Load() {
		return nil, vfs.ErrStale
	}
	info, err := f.stat(n, p)
	if err != nil {
		return nil, err
	}
	switch typeOf(info) {
	case vfs.TypeRegular:
		return info, nil
	case vfs.TypeDirectory:
		return nil, vfs.ErrIsDir
	}
	return nil, vfs.ErrInvalid
}

// Read reads what there is at off.
func (f *FS) Read(_ *vfs.Call, o vfs.Object, buf []byte, off uint64) (int, bool, error) {
	f.ns.RLock()
	defer f.ns.RUnlock()
	n, p, err := f.use(o)
	if err != nil {
		return 0, false, err
	}
	n.data.RLock()
	defer n.data.RUnlock()
	info, err := f.statFile(n, p)
	if err != nil {
		return 0, false, err
	}
	size := uint64(max(0, info.Size()))
	if off >= size {
		return 0, true, nil
	}
	eof := uint64(len(buf)) >= size-off
	if eof {
		buf = buf[:size-off]
	}
	k, err := readFull(f.store, p, buf, int64(off))
	switch {
	case err == io.EOF:
		return k, true, nil // it was cut behind our back
	case err != nil:
		return 0, false, f.lost(n, err)
	}
	return k, eof, nil
}

func readFull(s Store, p string, buf []byte, off int64) (n int, err error) {
	for n < len(buf) && err == nil {
		var k int
		k, err = s.ReadAt(p, buf[n:], off+int64(n))
		n += k
		if k == 0 && err == nil {
			err = io.ErrNoProgress
		}
	}
	if n == len(buf) {
		err = nil
	}
	return n, err
}

// Readlink asks the store.
func (f *FS) Readlink(_ *vfs.Call, o vfs.Object) (string, error) {
	f.ns.RLock()
	defer f.ns.RUnlock()
	n, p, err := f.use(o)
	if err != nil {
		return "", err
	}
	if _, err := f.stat(n, p); err != nil {
		return "", err
	}
	if n.typ() != vfs.TypeSymlink || f.links == nil {
		return "", vfs.ErrInvalid
	}
	return f.links.Readlink(p)
}

// Write writes through to the store, and syncs if more than Unstable is asked for.
func (f *FS) Write(_ *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, _ *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	f.ns.RLock()
	defer f.ns.RUnlock()
	v := f.verifier()
	n, p, err := f.use(o)
	if err != nil {
		return 0, 0, v, err
	}
	n.data.Lock()
	defer n.data.Unlock()
	if _, err := f.statFile(n, p); err != nil {
		return 0, 0, v, err
	}
	if off > math.MaxInt64 || uint64(len(data)) > math.MaxInt64-off {
		return 0, 0, v, vfs.ErrFileTooBig
	}
	k := 0
	if len(data) > 0 {
		if k, err = f.store.WriteAt(p, data, int64(off)); k > 0 {
			n.changed(f.now)
		}
		if k == 0 && err != nil {
			return 0, 0, v, f.lost(n, err)
		}
	}
	if f.syncs == nil {
		return k, vfs.FileSync, v, nil
	}
	if how != vfs.Unstable {
		if err := f.sync(p); err != nil {
			return 0, 0, v, err
		}
	}
	return k, how, v, nil
}

// Commit syncs the file, if the store has not done so with each write.
func (f *FS) Commit(_ *vfs.Call, o vfs.Object, _, _ uint64, _ *vfs.Change) (vfs.Verifier, error) {
	f.ns.RLock()
	defer f.ns.RUnlock()
	n, p, err := f.use(o)
	if err != nil {
		return f.verifier(), err
	}
	n.data.RLock()
	defer n.data.RUnlock()
	if _, err := f.statFile(n, p); err != nil {
		return f.verifier(), err
	}
	if f.syncs != nil {
		err = f.sync(p)
	}
	return f.verifier(), err
}

// sync syncs a file. If that fails nobody knows what of earlier writes is lost, so
// that all clients have to write again what they have not committed.
func (f *FS) sync(p string) error {
	err := f.syncs.Sync(p)
	if err != nil {
		f.losses.Add(1)
	}
	return err
}

func (f *FS) verifier() (v vfs.Verifier) {
	binary.BigEndian.PutUint64(v[:], f.losses.Load())
	return v
}

// Setattr sets size, mode and times. What the store could not do is found out
// before anything is done; if it fails halfway, half is done.
func (f *FS) Setattr(_ *vfs.Call, o vfs.Object, s *vfs.SetAttr, guard *vfs.Time, _ *vfs.Change) error {
	f.ns.RLock()
	defer f.ns.RUnlock()
	n, p, err := f.use(o)
	if err != nil {
		return err
	}
	n.data.Lock()
	defer n.data.Unlock()
	if n.gone.Load() {
		return vfs.ErrStale
	}
	info, err := f.stat(n, p)
	if err != nil {
		return err
	}
	if guard != nil {
		var a vfs.Attr
		if n.attr(&a, info); a.Ctime != *guard {
			return vfs.ErrNotSync
		}
	}
	if err := f.mayset(typeOf(info), s); err != nil {
		return err
	}
	if s.IsZero() {
		return nil
	}
	f.unkeep(n)
	return f.apply(n, p, s)
}

// unkeep forgets the verifier of an exclusive CREATE: its client has gone on.
func (f *FS) unkeep(n *node) {
	n.meta.mu.Lock()
	was := n.meta.exclusive
	n.meta.exclusive = false
	n.meta.mu.Unlock()
	if was {
		f.table.keep(n, false)
	}
}

// mayset tells whether the store can set what s says on an object.
func (f *FS) mayset(t vfs.Type, s *vfs.SetAttr) error {
	if err := checkTimes(s); err != nil {
		return err
	}
	switch {
	case s.Mask&(vfs.AttrUID|vfs.AttrGID) != 0:
		return vfs.ErrPerm
	case s.Mask&vfs.AttrSize != 0 && t == vfs.TypeDirectory:
		return vfs.ErrIsDir
	case s.Mask&vfs.AttrSize != 0 && t != vfs.TypeRegular:
		return vfs.ErrInvalid
	case s.Mask&vfs.AttrSize != 0 && s.Size > math.MaxInt64:
		return vfs.ErrFileTooBig
	case t == vfs.TypeSymlink:
		return vfs.ErrNotSupported // or the store would follow it
	case s.Mask&vfs.AttrMode != 0 && f.modes == nil:
		return vfs.ErrNotSupported
	case f.times == nil && (s.SetMtime == vfs.TimeGiven || s.SetAtime == vfs.TimeGiven):
		return vfs.ErrNotSupported
	}
	return nil
}

func checkTimes(s *vfs.SetAttr) error {
	if s.SetAtime == vfs.TimeGiven && s.Atime.Nsec >= 1e9 || s.SetMtime == vfs.TimeGiven && s.Mtime.Nsec >= 1e9 {
		return vfs.ErrInvalid
	}
	return nil
}

// apply sets what s says.
func (f *FS) apply(n *node, p string, s *vfs.SetAttr) error {
	n.changed(f.now)
	if s.Mask&vfs.AttrSize != 0 {
		if err := f.store.Truncate(p, int64(s.Size)); err != nil {
			return f.lost(n, err)
		}
	}
	if s.Mask&vfs.AttrMode != 0 {
		if err := f.modes.Chmod(p, iofs.FileMode(s.Mode&0o777)); err != nil {
			return f.lost(n, err)
		}
	}
	if f.times == nil || s.SetAtime == vfs.TimeKeep && s.SetMtime == vfs.TimeKeep {
		return nil
	}
	// The zero Time leaves a time as it is, as with os.Chtimes.
	atime, mtime := f.pick(s.SetAtime, s.Atime), f.pick(s.SetMtime, s.Mtime)
	return f.times.Chtimes(p, atime, mtime)
}

func (f *FS) pick(how vfs.SetTime, t vfs.Time) time.Time {
	switch how {
	case vfs.TimeServer:
		return f.now()
	case vfs.TimeGiven:
		return time.Unix(t.Sec, int64(t.Nsec))
	}
	return time.Time{}
}
