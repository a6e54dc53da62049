package local

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	eddy "eddy.example"
	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/kernelclient"
	"eddy.example/vfs/export"
)

//go:embed testdata/permissions.sh
var permissions string

// squashes are the exports' and their paths.
var squashes = map[string]export.Squash{
	"/none": export.SquashNone, "/root": export.SquashRoot, "/all": export.SquashAll,
}

// Users fare on a mount as on tmpfs, where those that are squashed are nobody.
func TestPermissions(t *testing.T) {
	t.Parallel()
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
		w := newWorld(t)
		exports := []eddy.Export{w.open(t, "/", export.SquashNone)}
		for path, squash := range squashes {
			if err := os.Mkdir(w.path(path), 0o755); err != nil {
				t.Fatal(err)
			}
			exports = append(exports, w.open(t, path, squash))
		}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		out := w.run(t, kernelclient.Config{
			Kernel: k, Files: map[string]string{"/usr/bin/users": self},
		}, permissions, exports...)
		t.Logf("%s", out["log"])
		if len(out["differences"]) > 0 {
			t.Errorf("%s", out["differences"])
		}
	})
}

// usersVar is set in the processes of the guest: what they are for.
const usersVar = "EDDY_TEST_USERS"

// users is such a process.
func users(what string) {
	switch args := os.Args[1:]; what {
	case "compare":
		if err := compareUsers(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case "perform":
		perform(args[0], args[1] == "true")
	}
}

// person is a user of the guest, and whom a server makes of him.
type person struct {
	name string
	cred syscall.Credential
}

var (
	nobody = syscall.Credential{Uid: 65534, Gid: 65534}
	people = []person{
		{"user1", syscall.Credential{Uid: 1001, Gid: 1001, Groups: []uint32{2000}}},
		{"user2", syscall.Credential{Uid: 1002, Gid: 1002, Groups: []uint32{2000, 2002}}},
		{"user3", syscall.Credential{Uid: 1003, Gid: 1003}},
		{"root", syscall.Credential{}},
	}
)

func (p *person) squashed(s export.Squash) bool {
	return s == export.SquashAll || s == export.SquashRoot && p.cred.Uid == 0
}

// compareUsers writes differences to /out/differences.
func compareUsers() error {
	differences, err := os.Create("/out/differences")
	if err != nil {
		return err
	}
	defer differences.Close()
	log, err := os.Create("/out/log")
	if err != nil {
		return err
	}
	defer log.Close()
	for path, squash := range squashes {
		ref := "/ref" + path
		if err := errors.Join(os.Mkdir(ref, 0o755), fixture(ref), fixture("/mnt/admin"+path)); err != nil {
			return err
		}
		for _, p := range people {
			as, judged := p.cred, true
			if p.squashed(squash) {
				as = nobody
				judged = p.cred.Uid == 0 // the client's kernel lets root do all
			}
			want, err := run(ref, p.name, as, judged)
			if err != nil {
				return err
			}
			got, err := run("/mnt"+path, p.name, p.cred, judged)
			if err != nil {
				return err
			}
			allowed := 0
			for i := range want {
				if strings.Contains(want[i], ": done ") {
					allowed++
				}
				if got[i] != want[i] {
					fmt.Fprintf(differences, "%s of %s: %s\n  but on tmpfs: %s\n", p.name, path, got[i], want[i])
				}
			}
			fmt.Fprintf(log, "%s of %s: %d allowed, %d denied\n", p.name, path, allowed, len(want)-allowed)
			wantTree, err := tree(ref)
			gotTree, err2 := tree("/mnt/admin" + path)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
			for _, s := range gotTree {
				if !slices.Contains(wantTree, s) {
					fmt.Fprintf(differences, "after %s of %s there is on the mount only: %s\n", p.name, path, s)
				}
			}
			for _, s := range wantTree {
				if !slices.Contains(gotTree, s) {
					fmt.Fprintf(differences, "after %s of %s there is on tmpfs only: %s\n", p.name, path, s)
				}
			}
		}
	}
	return nil
}

// run has a user do all deeds in dir, and returns what came of them.
func run(dir, name string, cred syscall.Credential, judged bool) ([]string, error) {
	cmd := exec.Command("/usr/bin/users", name, fmt.Sprint(judged))
	cmd.Dir, cmd.Env, cmd.Stderr = dir, []string{usersVar + "=perform"}, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &cred}
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s in %s: %w", name, dir, err)
	}
	return lines(out), err
}
