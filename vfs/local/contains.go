package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// ErrStateInRoot is in the error of Open for a Config.State that clients could
// change.
var ErrStateInRoot = errors.New("the state would be inside the directory that is served, where clients could change it")

// maxLinks is how many symbolic links a path may lead through.
const maxLinks = 40

// Contains reports whether path leads through the directory root: whoever can change
// what is below root can then change what is found there. Links are followed, the
// last one too, wherever they lead in between; what does not exist yet is where it
// would be made. A root that is not there contains nothing.
//
// It is for files of a server's own that no export may have in it: keys, sockets,
// logs, configuration. Part of root that is mounted elsewhere too is not recognised
// there.
func Contains(root, path string) (bool, error) {
	top, err := os.Stat(root)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return false, err
	}
	at, rest := "/", path
	for links := 0; ; {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, top) {
			return true, nil
		}
		if rest = strings.TrimLeft(rest, "/"); rest == "" {
			return false, nil
		}
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		next := filepath.Join(at, name) // also for ..: at has no links
		target, err := os.Readlink(next)
		if err != nil {
			at = next // no link, or not there
			continue
		}
		if links++; links > maxLinks {
			return false, &os.PathError{Op: "readlink", Path: path, Err: errors.New("too many links")}
		}
		if rest = target + "/" + rest; strings.HasPrefix(target, "/") {
			at = "/"
		}
	}
}
