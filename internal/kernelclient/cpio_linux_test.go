package kernelclient

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Busybox unpacks archives as the kernel does, and tells what it saw.
func TestCPIO(t *testing.T) {
	in := make(tree)
	in.file("etc/motd", modeFile, []byte("hello"))
	in.file("bin/tool", modeProgram, []byte{0x7f, 'E', 'L', 'F', 0})
	in.file("empty", modeFile, nil)
	in.link("bin/alias", "tool")
	in.dir("var/tmp")
	var b bytes.Buffer
	if err := in.writeCPIO(&b); err != nil {
		t.Fatal(err)
	}

	dir := t.TempDir()
	cmd := exec.Command("busybox", "cpio", "-i", "-d")
	cmd.Dir, cmd.Stdin = dir, &b
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		got[name] = info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			got[name] += " " + string(text)
			return err
		case !info.IsDir():
			target, err := os.Readlink(path)
			got[name] += " " + target
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(got, ".")
	want := map[string]string{
		"bin":       "drwxr-xr-x",
		"bin/alias": "Lrwxrwxrwx tool",
		"bin/tool":  "-rwxr-xr-x \x7fELF\x00",
		"empty":     "-rw-r--r-- ",
		"etc":       "drwxr-xr-x",
		"etc/motd":  "-rw-r--r-- hello",
		"var":       "drwxr-xr-x",
		"var/tmp":   "drwxr-xr-x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
