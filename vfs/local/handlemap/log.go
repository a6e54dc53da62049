package handlemap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

const (
	fileName = "handles"
	newName  = "handles.new"
	lockName = "handles.lock"

	// slack is how much of a small file may be out of date.
	slack = 1 << 20
	// chunk is how many rows are copied at a time, and Put waits for.
	chunk = 1024
)

// log is the file of a Map. Its lock is taken before that of the table.
type log struct {
	dir  string
	lock *os.File

	mu   sync.Mutex
	file *os.File
	size int64
	next *os.File // the new file, while rows are copied: gets all changes too
	at   int64    // file is copied when it reaches this size
	err  error    // of a write: the file gets nothing more until it is copied
	buf  []byte   // what flush writes; swapped with Map.pending

	copying sync.Mutex     // held by who copies; taken before mu
	copies  sync.WaitGroup // copies in the background
}

// openLog reads the file in dir, or makes one, and lets changes go there.
func (m *Map) openLog(dir string) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("handlemap: %w", err)
	}
	l := &log{dir: dir}
	if l.lock, err = lockFile(filepath.Join(dir, lockName)); err != nil {
		return fmt.Errorf("handlemap: %s: %w", dir, err)
	}
	defer func() {
		if err != nil {
			l.lock.Close()
		}
	}()
	path := filepath.Join(dir, fileName)
	l.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("handlemap: %w", err)
	}
	defer func() {
		if err != nil {
			l.file.Close()
		}
	}()
	if l.size, err = m.replay(l.file, path); err != nil {
		return err
	}
	if l.size == 0 {
		if _, err = l.file.WriteAt(appendHeader(nil), 0); err != nil {
			return fmt.Errorf("handlemap: %w", err)
		}
		l.size = int64(headerSize)
	}
	if err = l.file.Truncate(l.size); err != nil {
		return fmt.Errorf("handlemap: %w", err)
	}
	l.at = 2*m.live + slack
	m.log = l
	return nil
}

// replay makes the rows that f tells of and returns how much of it is good: 0 if not
// even the header is whole. One of zeros is that of a file whose first page was not
// written when the power failed.
func (m *Map) replay(f io.Reader, path string) (good int64, err error) {
	r := bufio.NewReaderSize(f, 256<<10)
	header := make([]byte, headerSize)
	n, err := io.ReadFull(r, header)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF && string(header[:n]) == string(appendHeader(nil)[:n]):
		return 0, nil
	case (err == nil || err == io.ErrUnexpectedEOF) && isZero(header[:n]):
		return 0, nil
	case err == io.ErrUnexpectedEOF:
		return 0, checkHeader(path, header)
	case err != nil:
		return 0, fmt.Errorf("handlemap: %w", err)
	}
	if err := checkHeader(path, header); err != nil {
		return 0, err
	}
	good = int64(headerSize)
	records := recordReader{r: r}
	for {
		rec, size, err := records.next()
		switch {
		case err == io.EOF || err == errDamaged:
			return good, nil
		case err != nil:
			return 0, fmt.Errorf("handlemap: %w", err)
		}
		good += int64(size)
		if rec.kind == kindPut {
			m.put(rec.key, rec.parent, rec.name)
		} else if i, ok := m.index[rec.key]; ok {
			m.remove(i)
		}
	}
}

func isZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// flush appends what is pending to the file, and starts to copy one that is mostly
// out of date.
func (m *Map) flush() {
	l := m.log
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	live := m.write(nil)
	if l.size >= l.at && l.next == nil && l.err == nil {
		l.at = 2 * l.size // unless this copy succeeds
		if l.size > 2*live+slack {
			l.copies.Go(func() { m.copy() })
		}
	}
}

// write appends what is pending, and then extra to the new file. The caller holds
// l.mu. It returns the size of all rows.
func (m *Map) write(extra func(b []byte) []byte) (live int64) {
	l := m.log
	m.mu.Lock()
	b := m.pending
	m.pending = l.buf[:0]
	n := len(b)
	if extra != nil {
		b = extra(b)
	}
	live = m.live
	m.mu.Unlock()
	if l.buf = b; cap(b) > 1<<20 {
		l.buf = nil
	}
	if n > 0 && l.err == nil && l.file != nil {
		if _, err := l.file.WriteAt(b[:n], l.size); err != nil {
			l.err = fmt.Errorf("handlemap: %w", err)
			// Best effort: a reader also stops at what is not whole.
			l.file.Truncate(l.size)
		} else {
			l.size += int64(n)
		}
	}
	if l.next != nil && len(b) > 0 {
		if _, err := l.next.Write(b); err != nil {
			l.abandon()
		}
	}
	return live
}

// abandon gives the new file up. The caller holds l.mu.
func (l *log) abandon() {
	l.next.Close()
	l.next = nil
	os.Remove(filepath.Join(l.dir, newName))
}

// errAbandoned is that of a copy whose file could not be written.
var errAbandoned = errors.New("handlemap: the new file could not be written")

// copy writes all rows to a new file and puts it in the place of the old one.
// Meanwhile changes go to both: a row that is copied has had them, or gets them
// behind the copy.
func (m *Map) copy() error {
	l := m.log
	l.copying.Lock()
	defer l.copying.Unlock()
	f, err := os.OpenFile(filepath.Join(l.dir, newName), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("handlemap: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = f
	if _, err := f.Write(appendHeader(nil)); err != nil {
		l.abandon()
		return fmt.Errorf("handlemap: %w", err)
	}
	for at, more := 0, true; more; {
		m.write(func(b []byte) []byte {
			end := min(at+chunk, len(m.rows))
			for _, r := range m.rows[at:end] {
				if r.taken {
					b = appendPut(b, r.key, r.parent, r.name)
				}
			}
			at, more = end, end < len(m.rows)
			return b
		})
		if l.next == nil {
			return errAbandoned
		}
		l.mu.Unlock() // let others in
		l.mu.Lock()
		if l.next == nil {
			return errAbandoned
		}
	}
	l.mu.Unlock()
	err = f.Sync()
	l.mu.Lock()
	if l.next == nil {
		return errAbandoned
	}
	var size int64
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = os.Rename(filepath.Join(l.dir, newName), filepath.Join(l.dir, fileName))
	}
	if err != nil {
		l.abandon()
		return fmt.Errorf("handlemap: %w", err)
	}
	l.file.Close()
	l.file, l.next, l.size, l.err = f, nil, size, nil
	l.at = 2*size + slack
	return nil
}

// Sync makes all changes durable. If the file could not be written since the last
// Sync, which a full file system is the usual reason for, it is written anew.
func (m *Map) Sync() error {
	l := m.log
	if l == nil {
		return nil
	}
	l.mu.Lock()
	m.write(nil)
	broken := l.err
	l.mu.Unlock()
	if broken != nil {
		if err := m.copy(); err != nil {
			return errors.Join(broken, err)
		}
	}
	l.copying.Lock() // so that the file stays
	defer l.copying.Unlock()
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("handlemap: %w", err)
	}
	return syncDir(l.dir)
}

// Close syncs and closes the map, which must not be used any more, and lets
// others open it.
func (m *Map) Close() error {
	l := m.log
	if l == nil {
		return nil
	}
	err := m.Sync()
	l.copies.Wait()
	return errors.Join(err, l.file.Close(), l.lock.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("handlemap: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("handlemap: %w", err)
	}
	return nil
}
