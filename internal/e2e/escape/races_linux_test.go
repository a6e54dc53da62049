package escape

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// rounds is how often each side of a race does what it does.
const rounds = 150

// TestRaces has the host exchange a directory for a link to its like outside, and
// a file for a link to the secret, and move both about, while clients use them by
// name and by handle. Nothing of outside is read or changed.
func TestRaces(t *testing.T) {
	eachWith(t, settings{MaxOpenFiles: 16}, func(t *testing.T, w *world) {
		w.mkdir("up/export/d/sub")
		w.mkdir("up/export/e")
		w.write("up/export/d/file", "inside")
		w.write("up/export/d/sub/file", "inside")
		w.write("up/export/f", "inside")
		w.symlink("../../outside/d", "up/export/to-d")
		w.symlink("../../outside/secret", "up/export/to-secret")
		d, sub, file, f := w.find("d"), w.find("d/sub"), w.find("d/sub/file"), w.find("f")
		before := w.outside()

		stop := make(chan struct{})
		var host sync.WaitGroup
		churn := func(step func() error) {
			host.Go(func() {
				for {
					if err := step(); err != nil {
						t.Error(err)
						return
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
		exchange := func(a, b string) error {
			err := unix.Renameat2(unix.AT_FDCWD, w.in(a), unix.AT_FDCWD, w.in(b), unix.RENAME_EXCHANGE)
			if err == unix.ENOENT {
				return nil // a client has it elsewhere
			}
			return err
		}
		churn(func() error { return errors.Join(exchange("d", "to-d"), exchange("d", "to-d")) })
		churn(func() error { return exchange("f", "to-secret") })
		churn(func() error { return errors.Join(exchange("e", "to-d"), exchange("e", "to-d")) })

		var clients sync.WaitGroup
		race := func(name string, step func(w *world) error) {
			c, err := nfs3.Dial(ctx, "tcp", w.server.addr, &cred, rpc.ClientConfig{})
			w.ok(err)
			own := *w
			own.c = c
			clients.Go(func() {
				defer c.Close()
				for range rounds {
					if err := step(&own); err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
				}
			})
		}
		race("READ of what has the name d/secret", func(w *world) error { return harmless(w.readPath("d", "secret")) })
		race("READ of what has the name d/file", func(w *world) error { return inside(w.readPath("d", "file")) })
		race("READ of what has the name f", func(w *world) error { return inside(w.readPath("f")) })
		race("READ of what has the name e/file", func(w *world) error { return harmless(w.readPath("e", "file")) })
		race("READ by handles", func(w *world) error { return errors.Join(inside(w.read(file)), inside(w.read(f))) })
		race("LOOKUP by handles", func(w *world) error {
			return errors.Join(harmless("", drop(w.c.Lookup(ctx, sub, "file"))), harmless("", drop(w.c.Lookup(ctx, d, "secret"))))
		})
		race("READDIRPLUS", func(w *world) error {
			res, err := w.c.Readdirplus(ctx, w.root, 0, nfs3.Cookieverf3{}, 1<<16, 1<<16)
			for _, e := range res.Resok.Reply.Entries {
				if e.NameHandle.HandleFollows {
					err = errors.Join(err, harmless(w.read(e.NameHandle.Handle.Data)))
				}
			}
			return err
		})
		race("CREATE and REMOVE", func(w *world) error {
			how := nfs3.Createhow3{Mode: nfs3.UNCHECKED, ObjAttributes: cut}
			err := harmless("", drop(w.createPath("d", "secret", &how)))
			return errors.Join(err, harmless("", drop(w.removePath("d", "secret"))))
		})
		race("RENAME", func(w *world) error {
			return errors.Join(harmless("", drop(w.c.Rename(ctx, w.root, "f", sub, "f"))), harmless("", drop(w.c.Rename(ctx, sub, "f", w.root, "f"))))
		})
		clients.Wait()
		close(stop)
		host.Wait()
		w.untouched(before)
	})
}

// harmless lets pass that something was not there, or was no file, at the time.
func harmless(_ string, err error) error {
	const fine = " NFS3_OK NFS3ERR_NOENT NFS3ERR_NOTDIR NFS3ERR_ISDIR NFS3ERR_INVAL NFS3ERR_STALE NFS3ERR_JUKEBOX NFS3ERR_EXIST NFS3ERR_NOTEMPTY NFS3ERR_ACCES "
	if strings.Contains(fine, " "+status(err)+" ") {
		return nil
	}
	return err
}

// inside is harmless for a file that has to have what it has inside.
func inside(got string, err error) error {
	if err == nil && got != "inside" {
		return fmt.Errorf("read %q", got)
	}
	return harmless(got, err)
}

// readPath reads what has a path, step by step.
func (w *world) readPath(names ...string) (string, error) {
	fh := w.root
	for _, name := range names {
		res, err := w.c.Lookup(ctx, fh, name)
		if err != nil {
			return "", err
		}
		fh = res.Resok.Object.Data
	}
	return w.read(fh)
}

func (w *world) createPath(dir, name string, how *nfs3.Createhow3) (res nfs3.CREATE3res, err error) {
	d, err := w.c.Lookup(ctx, w.root, dir)
	if err != nil {
		return res, err
	}
	return w.c.Create(ctx, d.Resok.Object.Data, name, how)
}

func (w *world) removePath(dir, name string) (res nfs3.REMOVE3res, err error) {
	d, err := w.c.Lookup(ctx, w.root, dir)
	if err != nil {
		return res, err
	}
	return w.c.Remove(ctx, d.Resok.Object.Data, name)
}

// TestRaceWithMovesOut moves a directory out and back while clients list it and
// make, read and remove files in it by handles of it. What a client gets is what
// was inside, and what he makes moves with the directory.
func TestRaceWithMovesOut(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.mkdir("up/export/d/sub")
		w.write("up/export/d/sub/file", "inside")
		sub, file := w.find("d/sub"), w.find("d/sub/file")
		before := w.outside()
		stop := make(chan struct{})
		var host, clients sync.WaitGroup
		host.Go(func() {
			for {
				if err := errors.Join(os.Rename(w.in("d"), w.path("outside/d/moved")), os.Rename(w.path("outside/d/moved"), w.in("d"))); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
		for n := range 4 {
			c, err := nfs3.Dial(ctx, "tcp", w.server.addr, &cred, rpc.ClientConfig{})
			w.ok(err)
			own := *w
			own.c = c
			clients.Go(func() {
				defer c.Close()
				name := fmt.Sprint("new", n)
				for range rounds {
					err := errors.Join(inside(own.read(file)), harmless("", drop(c.Lookup(ctx, sub, ".."))))
					res, e := c.Create(ctx, sub, name, &nfs3.Createhow3{Mode: nfs3.UNCHECKED, ObjAttributes: anyMode})
					if err = errors.Join(err, harmless("", e)); e == nil && res.Resok.Obj.HandleFollows {
						err = errors.Join(err, harmless("", drop(c.Write(ctx, res.Resok.Obj.Handle.Data, []byte("mine"), 0, nfs3.UNSTABLE))))
					}
					list, e := own.names(sub)
					err = errors.Join(err, harmless("", e), harmless("", drop(c.Remove(ctx, sub, name))))
					for _, seen := range list {
						if seen != "file" && !strings.HasPrefix(seen, "new") {
							err = errors.Join(err, fmt.Errorf("READDIR has %q", seen))
						}
					}
					up, e := c.Lookup(ctx, sub, "..")
					if e == nil {
						err = errors.Join(err, harmless("", drop(c.Lookup(ctx, up.Resok.Object.Data, "secret"))))
						if secret, e := c.Lookup(ctx, up.Resok.Object.Data, "secret"); e == nil {
							err = errors.Join(err, fmt.Errorf("found the secret: %v", secret.Resok.ObjAttributes))
						}
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		clients.Wait()
		close(stop)
		host.Wait()
		delete(before, w.path("outside/d")) // its times
		after := w.outside()
		for path, was := range before {
			if after[path] != was {
				t.Errorf("%s is %q, and was %q", path, after[path], was)
			}
		}
	})
}
