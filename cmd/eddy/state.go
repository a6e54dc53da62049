package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"eddy.example/cmd/eddy/config"
	"eddy.example/vfs/export"
)

// none turns off what has a default.
const none = "none"

// stateDir is where state is kept, "" if nowhere.
func stateDir(c *config.Config) (string, error) {
	switch {
	case c.State == none || c.State == "" && len(c.Exports) == 0:
		return "", nil
	case c.State != "":
		return filepath.Abs(c.State)
	}
	return defaultStateDir()
}

func defaultStateDir() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/eddy", nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "eddy"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no home directory to keep state in: name one with --state, or none")
	}
	return filepath.Join(home, ".local/state/eddy"), nil
}

// state is a directory that one process at a time keeps what has to outlive
// it in:
//
//	lock         who has it
//	handle.key   16 bytes that file handles are authenticated with, mode 0600
//	control.sock
//	exports/ID   what an export has to remember
type state struct {
	dir    string
	lock   *os.File
	secret export.Key
}

func openState(dir string) (*state, error) {
	s := &state{dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, stateHint(err, dir)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, stateHint(err, dir)
	}
	if !tryLock(lock) {
		who, _ := os.ReadFile(lock.Name())
		lock.Close()
		return nil, fmt.Errorf("state directory %s is in use by %s: stop it, or choose another directory with --state", dir, orUnknown(string(who)))
	}
	s.lock = lock
	if err := errors.Join(lock.Truncate(0), writeAt(lock, whoAmI())); err != nil {
		s.close()
		return nil, stateHint(err, dir)
	}
	if err := s.readKey(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

func whoAmI() string { return fmt.Sprintf("process %d (%s)", os.Getpid(), strings.Join(os.Args, " ")) }

func orUnknown(who string) string {
	if who = strings.Join(strings.Fields(who), " "); who == "" {
		return "another process"
	}
	return who
}

func stateHint(err error, dir string) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("cannot keep state in %s: %w: choose a directory of your own with --state, or none", dir, err)
}

// readKey reads the key, which the first start makes.
func (s *state) readKey() error {
	path := filepath.Join(s.dir, "handle.key")
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s.makeKey(path)
	}
	if err != nil {
		return stateHint(err, s.dir)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s can be read by others: whoever did can forge file handles: remove it to get a new one, or chmod 600 it", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return stateHint(err, s.dir)
	}
	if copy(s.secret[:], text) != len(s.secret) || len(text) != len(s.secret) || s.secret == (export.Key{}) {
		return fmt.Errorf("%s is damaged: restore it, or remove it and mount again everywhere", path)
	}
	return nil
}

// makeKey leaves either a whole key at path or none.
func (s *state) makeKey(path string) error {
	s.secret = export.NewKey()
	f, err := os.CreateTemp(s.dir, "new-key-*") // mode 0600
	if err != nil {
		return stateHint(err, s.dir)
	}
	_, err = f.Write(s.secret[:])
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncDir(s.dir)
	}
	if err != nil {
		os.Remove(f.Name())
		return stateHint(err, s.dir)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// key is the handles' key, a new one for each process without state.
func (s *state) key() export.Key {
	if s == nil {
		return export.NewKey()
	}
	return s.secret
}

// export is the directory for an export's own state, "" without state.
func (s *state) export(x *config.Export) string {
	if s == nil {
		return ""
	}
	return exportState(s.dir, x)
}

// exportState is where an export has its own state below the state directory. Another
// directory behind the same path is another export.
func exportState(dir string, x *config.Export) string {
	id := sha256.Sum256([]byte(x.Path + "\x00" + x.Dir))
	return filepath.Join(dir, "exports", fmt.Sprintf("%x", id[:8]))
}

func (s *state) close() {
	if s != nil {
		s.lock.Close()
	}
}
