package local

import (
	"crypto/rand"
	"encoding/binary"
	"sync"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// later is what a change that may not wait is told: it is brief unless it has to
// be on stable storage when it is answered.
func (f *FS) later() error {
	if f.async.Load() {
		return vfs.ErrBrief
	}
	return vfs.ErrWouldBlock
}

// commits is a group commit: of one file's data, or of the names of one file
// system. Who comes while a sync is under way, which may have missed what he
// did, waits for the next, and one of those who wait makes it for all of them.
type commits struct {
	mu   sync.Mutex
	busy bool
	next *batch // of those who wait; nil: nobody does
}

// batch are the members of one sync.
type batch struct {
	files   []target
	members int64
	lead    chan struct{} // takes the member who is to make the sync
	done    chan struct{}
	err     error
}

// target is a descriptor that is to be synced, which a member holds.
type target struct {
	*file
	full bool // with all attributes, not only those needed to find the data
}

// add puts a descriptor into the batch, once.
func (b *batch) add(t target) {
	for n := range b.files {
		if b.files[n].file == t.file {
			b.files[n].full = b.files[n].full || t.full
			return
		}
	}
	b.files = append(b.files, t)
}

// join returns when what was done to the files before the call is on stable
// storage, or could not be put there: then for every member of the batch.
func (q *commits) join(f *FS, files ...target) error {
	q.mu.Lock()
	b := q.next
	if b == nil {
		b = &batch{lead: make(chan struct{}, 1), done: make(chan struct{})}
		q.next = b
	}
	for _, t := range files {
		b.add(t)
	}
	b.members++
	if q.busy {
		q.mu.Unlock()
		select {
		case <-b.done:
			return b.err
		case <-b.lead:
		}
		q.mu.Lock()
	}
	q.busy, q.next = true, nil
	q.mu.Unlock()

	f.syncBatch(b)

	q.mu.Lock()
	if q.next != nil {
		q.next.lead <- struct{}{}
	} else {
		q.busy = false
	}
	q.mu.Unlock()
	close(b.done)
	return b.err
}

// syncBatch syncs all of a batch. An error of one is an error for all.
func (f *FS) syncBatch(b *batch) {
	for _, t := range b.files {
		f.syncs.Add(1)
		if err := f.sync(t); err != nil {
			f.syncErrors.Add(1)
			f.log.Error("sync failed: what clients have not committed may be lost", zap.Error(err))
			// Before anybody is told, so that no reply has the old verifier and
			// is believed.
			f.newVerifier()
			b.err = vfs.ErrIO
		}
	}
	f.syncedCalls.Add(b.members)
}

// sync syncs one descriptor. Where it is good for no sync, as that of a device
// or of a directory that can only be searched, the whole file system is synced.
func (f *FS) sync(t target) error {
	if f.syncHook != nil {
		return f.syncHook(t)
	}
	for {
		var err error
		switch {
		case t.grade == gradePath:
			err = unix.Syncfs(t.mount.root)
		case t.full:
			err = unix.Fsync(t.fd)
		default:
			err = unix.Fdatasync(t.fd)
		}
		if err != unix.EINTR {
			return err
		}
	}
}

// commit makes a file's data durable.
func (f *FS) commit(i *inode, h *file, full bool) error {
	// What is written from now on is the next sync's.
	f.clean(i)
	return i.commits.join(f, target{h, full})
}

// soil notes that a file has data that no sync has covered.
func (f *FS) soil(i *inode) {
	if !i.dirty.Swap(true) {
		f.pending.Add(1)
	}
}

func (f *FS) clean(i *inode) {
	if i.dirty.Swap(false) {
		f.pending.Add(-1)
	}
}

// durable returns when changes of names and attributes are on stable storage:
// files are open for all that was changed.
func (f *FS) durable(m *mount, files ...*file) error {
	if f.async.Load() {
		return nil
	}
	targets := make([]target, 0, len(files))
	for _, h := range files {
		if h != nil {
			targets = append(targets, target{h, true})
		}
	}
	return m.commits.join(f, targets...)
}

// newVerifier makes a write verifier that never was.
func (f *FS) newVerifier() {
	var b [8]byte
	rand.Read(b[:])
	f.verifier.Store(binary.NativeEndian.Uint64(b[:]))
}

func (f *FS) currentVerifier() (v vfs.Verifier) {
	binary.NativeEndian.PutUint64(v[:], f.verifier.Load())
	return v
}
