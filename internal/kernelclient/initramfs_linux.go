package kernelclient

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed guest
var guestFiles embed.FS

// Modules for the guest. The kernel loads others by name where it needs them,
// from what bootModules and lateModules depend on.
var (
	bootModules = []string{"virtio_pci", "virtio_net", "virtio_console", "nfsv3", "nfsv4"}
	lateModules = []string{"sch_netem", "ifb", "sch_ingress", "cls_matchall", "act_mirred", "tcp_diag"}
)

// programs of this machine that the guest has. Busybox does the rest.
var programs = []string{
	"bash", "mount.nfs", "ip", "ss", "tc",
	"cat", "chmod", "chown", "cmp", "cp", "dd", "fallocate", "find", "flock", "ln", "ls",
	"mkdir", "mv", "rm", "seq", "sha256sum", "stat", "timeout", "touch", "truncate",
}

// An initramfs is built from this machine's programs and a kernel's modules.
type initramfs struct {
	tree
	kernel *Kernel
	boot   []string // those of bootModules that are not built in
}

// newInitramfs returns all but the script of a run.
func newInitramfs(ctx context.Context, c *Config) (*initramfs, error) {
	i := &initramfs{tree: make(tree), kernel: c.Kernel}
	for _, d := range []string{"dev", "proc", "sys", "tmp", "run", "mnt", "out", "root", "var/lib/nfs"} {
		i.dir(d)
	}
	for _, d := range []string{"bin", "sbin", "lib", "lib64"} {
		i.dir("usr/" + d)
		i.link(d, "usr/"+d)
	}
	if err := i.addBusybox(ctx); err != nil {
		return nil, err
	}
	for _, p := range programs {
		path, err := lookPath(p)
		if err != nil {
			return nil, err
		}
		if err := i.addFile(ctx, "usr/bin/"+p, path); err != nil {
			return nil, err
		}
	}
	for _, p := range []string{"mount.nfs4", "umount.nfs", "umount.nfs4"} {
		i.link("usr/bin/"+p, "mount.nfs")
	}
	// A busybox shell would go on preferring its own applets to programs.
	i.link("usr/bin/sh", "bash")

	if err := i.addModules(ctx, slices.Concat(lateModules, c.Modules)); err != nil {
		return nil, err
	}
	for _, f := range []string{"etc/netconfig", "etc/protocols", "etc/services"} {
		if err := i.addFile(ctx, f, "/"+f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := i.addGuestFiles(); err != nil {
		return nil, err
	}
	for dst, src := range c.Files {
		if err := i.addAll(ctx, strings.TrimPrefix(dst, "/"), src); err != nil {
			return nil, err
		}
	}
	return i, nil
}

func (i *initramfs) addBusybox(ctx context.Context) error {
	path, err := lookPath("busybox")
	if err != nil {
		return err
	}
	if err := i.addFile(ctx, "usr/bin/busybox", path); err != nil {
		return err
	}
	applets, err := output(ctx, "", path, "--list")
	if err != nil {
		return err
	}
	for a := range strings.FieldsSeq(applets) {
		if a != "busybox" {
			i.link("usr/bin/"+a, "busybox")
		}
	}
	return nil
}

// addGuestFiles adds the guest's own files: init, the script's functions, and
// what belongs into /etc.
func (i *initramfs) addGuestFiles() error {
	return fs.WalkDir(guestFiles, "guest", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := guestFiles.ReadFile(path)
		if err != nil {
			return err
		}
		mode := uint32(modeFile)
		if bytes.HasPrefix(data, []byte("#!")) {
			mode = modeProgram
		}
		i.file(strings.TrimPrefix(path, "guest/"), mode, data)
		return nil
	})
}

// addAll copies a file, or a folder with all that is in it.
func (i *initramfs) addAll(ctx context.Context, dst, src string) error {
	return filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.Join(dst, strings.TrimPrefix(path, src))
		switch d.Type() {
		case fs.ModeDir:
			i.dir(name)
		case fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			i.link(name, target)
		case 0:
			return i.addFile(ctx, name, path)
		}
		return nil
	})
}

// addFile copies a file of this machine, and with a program the shared
// libraries that it needs.
func (i *initramfs) addFile(ctx context.Context, dst, src string) error {
	info, err := os.Stat(src)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(src)
	if err != nil {
		return err
	}
	i.file(dst, modeFile&^0o777|uint32(info.Mode().Perm()), data)
	if !bytes.HasPrefix(data, []byte("\x7fELF")) {
		return nil
	}
	// ldd fails for what is linked statically.
	libs, _ := output(ctx, "", "ldd", src)
	for _, lib := range libraryPath.FindAllString(libs, -1) {
		// /lib is a link to usr/lib there.
		name := "usr" + strings.TrimPrefix(lib, "/usr")
		if _, ok := i.tree[name]; ok {
			continue
		}
		data, err := os.ReadFile(lib)
		if err != nil {
			return err
		}
		i.file(name, modeProgram, data)
	}
	return nil
}

// libraryPath matches the files in ldd's output.
var libraryPath = regexp.MustCompile(`/\S+`)

// addModules adds bootModules, those of late that the kernel has, and what they
// depend on, unpacked, with the index by which modprobe finds them.
func (i *initramfs) addModules(ctx context.Context, late []string) error {
	deps, err := i.kernel.dependencies()
	if err != nil {
		return err
	}
	builtin, err := os.ReadFile(filepath.Join(i.kernel.modules, "modules.builtin"))
	if err != nil {
		return err
	}
	base := "usr/lib/modules/" + i.kernel.Version + "/"
	needed := make(map[string]bool) // by their path in modules.dep
	for _, m := range slices.Concat(bootModules, late) {
		path, ok := deps.byName[m]
		if !ok {
			if slices.Contains(bootModules, m) && !bytes.Contains(builtin, []byte("/"+m+".ko")) {
				return fmt.Errorf("kernel %s has no module %s", i.kernel.Version, m)
			}
			continue
		}
		if slices.Contains(bootModules, m) {
			i.boot = append(i.boot, m)
		}
		for _, p := range slices.Concat(deps.needs[path], []string{path}) {
			needed[p] = true
		}
	}
	var index strings.Builder
	for _, path := range slices.Sorted(maps.Keys(needed)) {
		packed, err := os.ReadFile(filepath.Join(i.kernel.modules, path))
		if err != nil {
			return err
		}
		data, err := decompress(ctx, packed)
		if err != nil {
			return err
		}
		i.file(base+unpacked(path), modeFile, data)
		index.WriteString(unpacked(path) + ":")
		for _, p := range deps.needs[path] {
			index.WriteString(" " + unpacked(p))
		}
		index.WriteString("\n")
	}
	i.file(base+"modules.dep", modeFile, []byte(index.String()))
	// The rest of the index may name modules that the guest does not have.
	for _, f := range []string{"modules.alias", "modules.builtin"} {
		if err := i.addFile(ctx, base+f, filepath.Join(i.kernel.modules, f)); err != nil {
			return err
		}
	}
	return nil
}

// dependencies is a kernel's modules.dep.
type dependencies struct {
	byName map[string]string   // path by module name
	needs  map[string][]string // by path: the paths of all modules to be loaded before
}

func (k *Kernel) dependencies() (dependencies, error) {
	d := dependencies{make(map[string]string), make(map[string][]string)}
	text, err := os.ReadFile(filepath.Join(k.modules, "modules.dep"))
	if err != nil {
		return d, err
	}
	for line := range strings.Lines(string(text)) {
		path, needs, _ := strings.Cut(line, ":")
		name := strings.TrimSuffix(filepath.Base(unpacked(path)), ".ko")
		d.byName[strings.ReplaceAll(name, "-", "_")] = path
		d.needs[path] = strings.Fields(needs)
	}
	return d, nil
}

// unpacked returns a module's path without the suffix of its compression.
func unpacked(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".xz"), ".zst")
}

// lookPath finds a program also where only root's PATH leads.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
		if err != nil {
			path, err = exec.LookPath(dir + name)
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s is not installed; .ci/run has the list of packages: %w", name, err)
	}
	return path, nil
}
