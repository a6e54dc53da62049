package handlemap

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestGoldenFile(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, 0)
	m.Put(Key{1, 2, 3}, Key{4, 5, 6}, "ab")
	m.Put(Key{1, 2, 3}, Key{4, 5, 6}, "ab") // says nothing new
	m.Delete(Key{1, 2, 3})
	m.Delete(Key{1, 2, 3})
	closeMap(t, m)
	want := "eddyhmap\x01\x00\x00\x00" +
		"\x17\xc8\x6e\x9b\x01\x00\x02\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00" +
		"\x04\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x06\x00\x00\x00ab" +
		"\xe7\xc9\x0a\xc2\x02\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00"
	if got := string(fileOf(t, dir)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, name := range []string{fileName, lockName} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, fi.Mode(), err)
		}
	}
}

// Wherever the file ends, the rows up to there are found, and work goes on.
func TestCutAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, 0)
	ends := map[int]map[Key]place{headerSize: {}}
	note := func() { ends[int(m.log.size)] = contents(m) }
	for n := range 12 {
		m.Put(key(n%5), key(n), strings.Repeat("x", 3*n+1))
		note()
		if n%4 == 3 {
			m.Delete(key(n % 3))
			note()
		}
	}
	closeMap(t, m)
	whole := fileOf(t, dir)
	want := map[Key]place{}
	for cut := range len(whole) + 1 {
		if rows, ok := ends[cut]; ok {
			want = rows
		}
		// What follows the cut: nothing, zeros as of a block never written,
		// or other bytes.
		for _, tail := range []string{"", strings.Repeat("\x00", 100), strings.Repeat("\xa5", 100)} {
			if tail != "" && cut < headerSize {
				continue
			}
			dir := t.TempDir()
			file := append(bytes.Clone(whole[:cut]), tail...)
			if err := os.WriteFile(filepath.Join(dir, fileName), file, 0o600); err != nil {
				t.Fatal(err)
			}
			m := open(t, dir, 0)
			if got := contents(m); !maps.Equal(got, want) {
				t.Fatalf("cut at %d: got %v, want %v", cut, got, want)
			}
			m.Put(key(99), key(98), "later")
			die(m)
			m = open(t, dir, 0)
			if _, name, _ := m.Get(key(99)); name != "later" || m.Len() != len(want)+1 {
				t.Fatalf("cut at %d: lost what came later", cut)
			}
			die(m)
		}
	}
}

// A power cut may leave the length of a file without the first page's bytes.
func TestFirstPageWasNotWritten(t *testing.T) {
	for _, zeros := range []int{1, headerSize - 1, headerSize, 4096} {
		dir := t.TempDir()
		b := appendPut(make([]byte, zeros), key(1), key(2), "behind it")
		if zeros < headerSize {
			b = b[:zeros]
		}
		if err := os.WriteFile(filepath.Join(dir, fileName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		m := open(t, dir, 0)
		if m.Len() != 0 {
			t.Errorf("%d zeros: %d rows", zeros, m.Len())
		}
		m.Put(key(3), key(4), "later")
		die(m)
		m = open(t, dir, 0)
		if _, name, _ := m.Get(key(3)); name != "later" || m.Len() != 1 {
			t.Errorf("%d zeros: %d rows later", zeros, m.Len())
		}
		die(m)
	}
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	for file, want := range map[string]string{
		"eddyhmap\x02\x00\x00\x00 and what version 2 has":  "has version 2, and this program knows 1: run the program that wrote it, or remove the file",
		"Somebody's diary of many words":                   "is not a handle map: move it away",
		"diary":                                            "is not a handle map: move it away",
		"eddyhmap\xff\xff\xff\xff":                         "has version 4294967295",
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01": "is not a handle map",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, fileName), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := Open(dir, 0); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", file, err)
			}
		}
		if got := string(fileOf(t, dir)); got != file {
			t.Errorf("%q became %q", file, got)
		}
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, 0)
	if _, err := Open(dir, 0); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Error(err)
	}
	closeMap(t, m)
	closeMap(t, open(t, dir, 0))
}

// A file that is written all the time stays within twice its rows and the slack.
func TestFileIsBounded(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, 0)
	const keys = 500
	for n := range 200 * keys {
		m.Put(key(n%keys), key(n), "name")
		if n%keys == 0 {
			m.log.copies.Wait()
		}
	}
	m.log.copies.Wait()
	if max := 2*m.live + slack + 2*keys*recordSize("name"); m.log.size > max {
		t.Errorf("%d bytes, want at most %d", m.log.size, max)
	}
	want := contents(m)
	closeMap(t, m)
	if got, _ := read(t, fileOf(t, dir)); !maps.Equal(got, want) {
		t.Errorf("%d rows in the file, want %d", len(got), len(want))
	}
	if _, err := os.Stat(filepath.Join(dir, newName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the new file: %v", err)
	}
}

// A file that could not be written (here: closed) is written anew by Sync.
func TestSyncAfterFailure(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, 0)
	m.Put(key(1), key(0), "one")
	m.log.file.Close()
	m.Put(key(2), key(0), "two")
	m.Put(key(3), key(0), "three")
	if m.log.err == nil {
		t.Fatal("nothing has failed")
	}
	if _, name, _ := m.Get(key(3)); name != "three" {
		t.Errorf("got %q", name)
	}
	if err := m.Sync(); err != nil {
		t.Fatal(err)
	}
	m.Put(key(4), key(0), "four")
	want := contents(m)
	closeMap(t, m)
	if got, _ := read(t, fileOf(t, dir)); len(got) != 4 || !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNoRoomForTheCopy(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir, 0)
	for n := range 3 {
		m.Put(key(n), key(0), fmt.Sprint(n))
	}
	if err := os.Mkdir(filepath.Join(dir, newName), 0o700); err != nil { // no file can be made there
		t.Fatal(err)
	}
	if err := m.copy(); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("copy: %v", err)
	}
	if err := m.Sync(); err != nil {
		t.Error(err)
	}
	m.Put(key(9), key(0), "nine")
	closeMap(t, m)
	if got, _ := read(t, fileOf(t, dir)); len(got) != 4 {
		t.Errorf("%d rows", len(got))
	}
}
