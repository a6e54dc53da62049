package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// fill makes a server's directory, once: a file to read and write, which is in
// the page cache then, and a directory to list. Everybody may write there.
func (r *runner) fill(server string) (dir string, err error) {
	dir = filepath.Join(r.files, server)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	many := filepath.Join(dir, dirName)
	if err := os.MkdirAll(many, 0o777); err != nil {
		return "", err
	}
	for i := range dirEntries {
		f, err := os.Create(filepath.Join(many, fmt.Sprintf("entry-%05d", i)))
		if err != nil {
			return "", err
		}
		f.Close()
	}
	n := int64(fileBytes)
	if r.Quick {
		n = quickBytes
	}
	name := filepath.Join(dir, fileName)
	if err := writeFile(name, n); err != nil {
		return "", err
	}
	// The umask is not asked.
	for path, mode := range map[string]os.FileMode{dir: 0o777, many: 0o777, name: 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// writeFile makes a file of n bytes, on disk and read.
func writeFile(name string, n int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	p := make([]byte, 1<<20)
	for i := range p {
		p[i] = byte(i * 7)
	}
	for off := int64(0); off < n; off += int64(len(p)) {
		if _, err := f.Write(p[:min(int64(len(p)), n-off)]); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, f)
	return err
}
