package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A deed is what a user tries in the directory that [fixture] has furnished.
// In names $ is the user's own.
type deed struct {
	what string
	do   func() (string, error)

	// local: the client's kernel judges by the owner of what is there, whatever
	// the server makes of the user.
	local bool
}

// deeds are done in this order.
func deeds(who string) []deed {
	d := user(who)
	return []deed{
		d.read("read-root"), d.read("read-group"), d.read("read-all"),
		d.read("not-for-group"), d.read("not-for-user1"), d.read("none-for-user1"),
		d.write("read-all"), d.write("write-group"), d.write("of-user1"), d.write("none-for-user1"),
		d.write("setuid-user1"), d.write("setgid-group"),
		d.run("run-all"), d.run("run-only", "true"), d.run("run-root"), d.run("run-nobody"),

		d.create("new"), d.mkdir("newdir", 0o755), d.remove("read-all"), d.rename("read-all", "renamed"),
		d.list("closed"), d.read("closed/inner"), d.enter("closed"),
		d.list("pass"), d.read("pass/inner"), d.enter("pass"),
		d.list("list"), d.read("list/inner"), d.enter("list"),
		d.create("pub/new-$"), d.remove("pub/inner"), d.rename("pub/second", "pub/moved-$"),
		d.rename("pub/third", "sticky/from-pub-$"),
		d.create("sticky/new-$"), d.remove("sticky/inner").locally(), d.rename("sticky/second", "sticky/moved-$").locally(),
		d.remove("sticky/new-$").locally(),
		d.create("setgid/new-$"), d.mkdir("setgid/dir-$", 0o755), d.create("group/new-$"), d.remove("group/inner"),
		d.remove("of-user2/inner"), d.remove("of-user2/none"),

		d.chmod("read-all", 0o600), d.chmod("of-user1", 0o640), d.chmod("of-user1", 0o2755),
		d.chmod("of-user1-too", 0o2755), d.chmod("of-user1", 0o6755), d.chmod("of-user2", 0o1777),
		d.chown("of-user1", -1, 2000), d.chown("of-user1", -1, 0), d.chown("of-user1", 1002, -1),
		d.chown("of-user1", 1001, -1), d.chown("setuid-user1", -1, 2000), d.chown("setgid-group", 1001, -1),
		d.touch("read-all"), d.touch("write-group"), d.stamp("write-group"), d.stamp("of-user1"),
		d.truncate("read-all"), d.truncate("write-group"), d.truncate("setuid-user1"), d.truncate("none-for-user1"),

		d.link("read-all", "pub/hard-$").locally(), d.link("of-user1", "pub/hard1-$").locally(),
		d.symlink("../read-root", "pub/soft-$"), d.read("pub/soft-$"),
		d.mknod("pub/fifo-$", unix.S_IFIFO, 0), d.mknod("pub/null-$", unix.S_IFCHR, unix.Mkdev(1, 3)),
		d.mkdir("pub/dir-$", 0o755), d.mkdir("pub/sgid-$", 0o2777), d.rename("pub/dir-$", "closed/dir-$"),
		d.rename("pub/dir-$", "of-user2/dir-$"), d.remove("pub/dir-$"),
		d.access("read-group", unix.R_OK), d.access("read-group", unix.W_OK), d.access("write-group", unix.W_OK),
		d.access("run-nobody", unix.X_OK), d.access("closed", unix.W_OK), d.access("closed", unix.X_OK),
		d.access("pass", unix.X_OK), d.access("pass", unix.R_OK), d.access("not-for-user1", unix.R_OK),
	}
}

func (d deed) locally() deed {
	d.local = true
	return d
}

type user string

func (u user) deed(do func(name string) (string, error), verb, name string, more ...any) deed {
	name = strings.ReplaceAll(name, "$", string(u))
	return deed{what: strings.TrimSpace(fmt.Sprintln(append([]any{verb, name}, more...)...)), do: func() (string, error) { return do(name) }}
}

// change is a deed of which nothing is seen but whether it was allowed.
func (u user) change(do func(name string) error, verb, name string, more ...any) deed {
	return u.deed(func(name string) (string, error) { return "", do(name) }, verb, name, more...)
}

// named is change for what makes or removes a name. There NFS has no word for EPERM
// (RFC 1813, the lists of errors in §3.3).
func (u user) named(do func(name string) error, verb, name string, more ...any) deed {
	return u.change(func(name string) error {
		err := do(name)
		if errors.Is(err, unix.EPERM) {
			err = unix.EACCES
		}
		return err
	}, verb, name, more...)
}

func (u user) read(name string) deed {
	return u.deed(func(name string) (string, error) {
		b, err := os.ReadFile(name)
		return string(b), err
	}, "read", name)
}

func (u user) write(name string) deed {
	return u.change(func(name string) error {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString("more\n")
		return errors.Join(err, f.Close())
	}, "write to", name)
}

func (u user) run(name string, args ...string) deed {
	return u.deed(func(name string) (string, error) {
		out, err := exec.Command("./"+name, args...).CombinedOutput()
		return string(out), err
	}, "run", name)
}

func (u user) create(name string) deed {
	return u.named(func(name string) error { return os.WriteFile(name, []byte(u), 0o666) }, "create", name)
}

func (u user) mkdir(name string, mode uint32) deed {
	return u.named(func(name string) error { return unix.Mkdir(name, mode) }, "mkdir", name)
}

func (u user) remove(name string) deed { return u.named(os.Remove, "remove", name) }

func (u user) rename(name, to string) deed {
	to = strings.ReplaceAll(to, "$", string(u))
	return u.named(func(name string) error { return os.Rename(name, to) }, "rename", name, "to", to)
}

func (u user) link(name, to string) deed {
	to = strings.ReplaceAll(to, "$", string(u))
	return u.named(func(name string) error { return os.Link(name, to) }, "link", name, "to", to)
}

func (u user) symlink(target, name string) deed {
	return u.named(func(name string) error { return os.Symlink(target, name) }, "symlink", name)
}

func (u user) mknod(name string, mode uint32, dev uint64) deed {
	return u.named(func(name string) error { return unix.Mknod(name, mode|0o644, int(dev)) }, "mknod", name)
}

func (u user) list(name string) deed {
	return u.deed(func(name string) (string, error) {
		dir, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer dir.Close()
		// That is all there is to see for who may not search the directory.
		names, err := dir.Readdirnames(-1)
		slices.Sort(names)
		return strings.Join(names, " "), err
	}, "list", name)
}

func (u user) enter(name string) deed {
	return u.change(func(name string) error {
		back, err := os.Getwd()
		if err != nil {
			return err
		}
		defer os.Chdir(back)
		return os.Chdir(name)
	}, "enter", name)
}

func (u user) chmod(name string, mode uint32) deed {
	return u.change(func(name string) error { return unix.Chmod(name, mode) }, "chmod", name, fmt.Sprintf("%o", mode))
}

func (u user) chown(name string, uid, gid int) deed {
	return u.change(func(name string) error { return os.Lchown(name, uid, gid) }, "chown", name, uid, gid)
}

func (u user) truncate(name string) deed {
	return u.change(func(name string) error { return os.Truncate(name, 2) }, "truncate", name)
}

func (u user) touch(name string) deed {
	return u.change(func(name string) error {
		now := unix.Timespec{Nsec: unix.UTIME_NOW}
		return unix.UtimesNanoAt(unix.AT_FDCWD, name, []unix.Timespec{now, now}, 0)
	}, "touch", name)
}

func (u user) stamp(name string) deed {
	return u.change(func(name string) error { return os.Chtimes(name, past, past) }, "stamp", name)
}

func (u user) access(name string, mode uint32) deed {
	return u.change(func(name string) error { return unix.Access(name, mode) }, "access", name, mode)
}

var past = time.Date(2001, 2, 3, 4, 5, 6, 123456789, time.UTC)

// perform does all in the working directory and prints what came of each, a line
// each. judged: also those that the client's kernel judges.
func perform(who string, judged bool) {
	unix.Umask(0o022)
	for _, d := range deeds(who) {
		if d.local && !judged {
			continue
		}
		seen, err := d.do()
		var errno unix.Errno
		var exit *exec.ExitError
		outcome := "done"
		switch {
		case errors.As(err, &errno):
			outcome = unix.ErrnoName(errno)
		case errors.As(err, &exit):
			outcome = exit.String()
		case err != nil:
			outcome = err.Error()
		}
		fmt.Printf("%s: %s %q\n", d.what, outcome, seen)
	}
}

// fixture furnishes a directory, as root.
func fixture(dir string) error {
	const script = "#!/bin/sh\necho ran\n"
	busybox, err := os.ReadFile("/usr/bin/busybox")
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name     string
		uid, gid int
		mode     uint32
		content  string
	}{
		{"read-root", 0, 0, 0o600, "text"}, {"read-group", 0, 2000, 0o640, "text"}, {"read-all", 0, 0, 0o644, "text"},
		{"write-group", 0, 2000, 0o660, "text"}, {"of-user1", 1001, 1001, 0o644, "text"},
		{"of-user1-too", 1001, 2001, 0o644, "text"}, {"none-for-user1", 1001, 1001, 0, "text"},
		{"not-for-group", 0, 2000, 0o604, "text"}, {"not-for-user1", 1001, 2000, 0o060, "text"},
		{"setuid-user1", 1001, 2000, 0o4775, "text"}, {"setgid-group", 0, 2000, 0o2775, "text"},
		{"run-all", 0, 0, 0o755, script}, {"run-only", 0, 0, 0o711, string(busybox)},
		{"run-root", 0, 0, 0o700, script}, {"run-nobody", 0, 0, 0o600, script},
	} {
		name := filepath.Join(dir, f.name)
		if err := errors.Join(os.WriteFile(name, []byte(f.content), 0o600), os.Chown(name, f.uid, f.gid), unix.Chmod(name, f.mode)); err != nil {
			return err
		}
	}
	for _, d := range []struct {
		name     string
		uid, gid int
		mode     uint32
	}{
		{"closed", 0, 0, 0o700}, {"pass", 0, 0, 0o711}, {"list", 0, 0, 0o744}, {"pub", 0, 0, 0o777}, {"sticky", 0, 0, 0o1777},
		{"setgid", 0, 2000, 0o2775}, {"group", 0, 2000, 0o770}, {"of-user2", 1002, 1002, 0o755},
	} {
		name := filepath.Join(dir, d.name)
		if err := os.Mkdir(name, 0o700); err != nil {
			return err
		}
		for _, f := range []string{"inner", "second", "third"} {
			if err := os.WriteFile(filepath.Join(name, f), []byte("inner"), 0o644); err != nil {
				return err
			}
		}
		if err := errors.Join(os.Chown(name, d.uid, d.gid), unix.Chmod(name, d.mode)); err != nil {
			return err
		}
	}
	return os.Chown(filepath.Join(dir, "sticky/second"), 1001, 1001)
}

// tree says what is in a directory. A directory's size is the file system's affair.
func tree(dir string) ([]string, error) {
	var all []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		if info.IsDir() {
			st.Size = 0
		}
		target, _ := os.Readlink(path)
		all = append(all, fmt.Sprintf("%s: %v %d:%d, %d links, %d bytes, device %d, %q",
			strings.TrimPrefix(path, dir), info.Mode(), st.Uid, st.Gid, st.Nlink, st.Size, st.Rdev, target))
		return nil
	})
	slices.Sort(all)
	return all, err
}
