package kernelclient

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// Default is the Debian suite whose kernel tests use that don't care.
const Default = "trixie"

// Suites returns the Debian suites whose kernels a test of the protocol should
// be repeated with: the default one, and with EDDY_LONG=1 in the environment
// older and newer ones.
func Suites() []string {
	if os.Getenv("EDDY_LONG") == "1" {
		return []string{"bookworm", "trixie", "trixie-backports"}
	}
	return []string{Default}
}

// A Kernel is an unpacked Debian kernel. It may be used by any number of
// guests at a time.
type Kernel struct {
	Version string // as uname -r has it
	image   string // what QEMU loads: ELF or bzImage
	modules string // folder with modules.dep
}

// Fetch returns the newest cloud kernel of a Debian suite such as "trixie". It
// is fetched from the machine's Debian mirror, without touching the machine's
// own package lists, when the cache does not have one of the suite yet: the
// cache is $EDDY_CACHE, or eddy in the user's cache folder, and may be deleted
// at any time to get newer kernels. Processes wait for each other.
func Fetch(ctx context.Context, suite string) (*Kernel, error) {
	k, err := fetch(ctx, suite)
	if err != nil {
		return nil, fmt.Errorf("kernelclient: kernel of %s: %w", suite, err)
	}
	return k, nil
}

func fetch(ctx context.Context, suite string) (*Kernel, error) {
	cache := os.Getenv("EDDY_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no cache folder, set EDDY_CACHE: %w", err)
		}
		cache = filepath.Join(user, "eddy")
	}
	dir := filepath.Join(cache, "kernels", suite)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()

	k, err := open(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	// Put together elsewhere, so that dir is there whole or not at all.
	tmp, err := os.MkdirTemp(filepath.Dir(dir), suite+".new-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if err := download(ctx, suite, tmp); err != nil {
		return nil, err
	}
	if err := prepare(ctx, filepath.Join(tmp, "root")); err != nil {
		return nil, err
	}
	if err := os.Rename(filepath.Join(tmp, "root"), dir); err != nil {
		return nil, err
	}
	return open(dir)
}

// lock waits for an exclusive lock on path, which is created if need be.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}

// open finds the kernel in dir, the root of its unpacked packages.
func open(dir string) (*Kernel, error) {
	versions, err := os.ReadDir(filepath.Join(dir, "usr/lib/modules"))
	if err != nil {
		return nil, err
	}
	if len(versions) != 1 {
		return nil, fmt.Errorf("%s has %d kernels", dir, len(versions))
	}
	return &Kernel{
		Version: versions[0].Name(),
		image:   filepath.Join(dir, "kernel"),
		modules: filepath.Join(dir, "usr/lib/modules", versions[0].Name()),
	}, nil
}

// kernelPackage matches the packages of one kernel version. Before 7.x all of
// it was linux-image; from then on that only depends on three others.
var kernelPackage = regexp.MustCompile(`(?m)^linux-[a-z]+-[0-9].*-cloud-amd64$`)

// download unpacks the kernel packages of the suite into dir/root.
func download(ctx context.Context, suite, dir string) error {
	// A package list and an archive of our own: the machine's are left alone.
	for _, d := range []string{"lists/partial", "archives/partial", "parts", "preferences", "debs", "root"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	mirror, err := debianMirror(ctx)
	if err != nil {
		return err
	}
	sources := fmt.Sprintf("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n", mirror, suite)
	if err := os.WriteFile(filepath.Join(dir, "sources"), []byte(sources), 0o644); err != nil {
		return err
	}
	apt := func(tool string, args ...string) (string, error) {
		options := []string{
			"-qq",
			"-oAPT::Sandbox::User=root",
			"-oAPT::Architecture=amd64",
			"-oAcquire::Languages=none",
			"-oAcquire::Retries=3",
			"-oDir::State::status=/dev/null",
			"-oDir::State::lists=" + filepath.Join(dir, "lists"),
			"-oDir::Cache=" + dir,
			"-oDir::Etc::sourcelist=" + filepath.Join(dir, "sources"),
			"-oDir::Etc::sourceparts=" + filepath.Join(dir, "parts"),
			"-oDir::Etc::preferencesparts=" + filepath.Join(dir, "preferences"),
		}
		return output(ctx, filepath.Join(dir, "debs"), tool, append(options, args...)...)
	}
	if _, err := apt("apt-get", "update"); err != nil {
		return err
	}
	names, err := apt("apt-cache", "depends", "--recurse", "--important", "linux-image-cloud-amd64")
	if err != nil {
		return err
	}
	pkgs := kernelPackage.FindAllString(names, -1)
	if len(pkgs) == 0 {
		return errors.New("the suite has no cloud-amd64 kernel")
	}
	if _, err := apt("apt-get", append([]string{"download"}, pkgs...)...); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(dir, "debs", "*.deb"))
	if err != nil {
		return err
	}
	for _, deb := range debs {
		if _, err := output(ctx, "", "dpkg-deb", "-x", deb, filepath.Join(dir, "root")); err != nil {
			return err
		}
	}
	return nil
}

// debianMirror returns the address from which this machine gets Debian.
func debianMirror(ctx context.Context) (string, error) {
	uris, err := output(ctx, "", "apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages")
	if err != nil {
		return "", err
	}
	for uri := range strings.FieldsSeq(uris) {
		if strings.HasSuffix(strings.TrimSuffix(uri, "/"), "/debian") {
			return uri, nil
		}
	}
	return "", errors.New("apt knows no Debian mirror")
}

// prepare makes unpacked packages ready for use.
func prepare(ctx context.Context, root string) error {
	// Older packages have /lib, newer ones /usr/lib.
	usr, lib := filepath.Join(root, "usr/lib"), filepath.Join(root, "lib")
	if err := os.MkdirAll(usr, 0o755); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(lib, "modules"), filepath.Join(usr, "modules")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	os.RemoveAll(lib)
	if err := os.Symlink("usr/lib", lib); err != nil {
		return err
	}
	k, err := open(root)
	if err != nil {
		return err
	}
	if _, err := output(ctx, "", "depmod", "-b", root, k.Version); err != nil {
		return err
	}
	image := filepath.Join(root, "boot/vmlinuz-"+k.Version)
	if _, err := os.Stat(image); err != nil {
		image = filepath.Join(k.modules, "vmlinuz")
	}
	bz, err := os.ReadFile(image)
	if err != nil {
		return err
	}
	elf, err := payload(ctx, bz)
	if err != nil {
		return fmt.Errorf("%s: %w", image, err)
	}
	return os.WriteFile(k.image, elf, 0o644)
}

// payload unpacks the ELF image inside a bzImage (the fields are those of
// Documentation/arch/x86/boot.rst). QEMU starts it through its PVH entry, so
// that nothing is unpacked by the slow guest. A bzImage that is packed in
// another way than those that decompress knows is left to the guest.
func payload(ctx context.Context, bz []byte) ([]byte, error) {
	if len(bz) < 0x250 || string(bz[0x202:0x206]) != "HdrS" {
		return nil, errors.New("no bzImage")
	}
	setup := (uint64(bz[0x1f1]) + 1) * 512
	start := setup + uint64(binary.LittleEndian.Uint32(bz[0x248:]))
	end := start + uint64(binary.LittleEndian.Uint32(bz[0x24c:]))
	if start+8 > end || end > uint64(len(bz)) {
		return nil, errors.New("payload beyond the end")
	}
	// The last four bytes are the unpacked length.
	elf, err := decompress(ctx, bz[start:end-4])
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(elf, []byte("\x7fELF")) {
		return bz, nil
	}
	return elf, nil
}

// decompress unpacks what Debian packs kernels and modules with, and returns
// anything else as it is.
func decompress(ctx context.Context, b []byte) ([]byte, error) {
	var tool string
	switch {
	case bytes.HasPrefix(b, []byte("\xfd7zXZ\x00")):
		tool = "xz"
	case bytes.HasPrefix(b, []byte("\x28\xb5\x2f\xfd")):
		tool = "zstd"
	default:
		return b, nil
	}
	cmd := exec.CommandContext(ctx, tool, "-dc")
	cmd.Stdin = bytes.NewReader(b)
	out, err := cmd.Output()
	if err != nil {
		return nil, failure(tool, err)
	}
	return out, nil
}

// output runs a command in dir and returns what it printed.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	// Debian keeps some programs where only root's PATH leads.
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin", "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		return "", failure(name, err)
	}
	return string(out), nil
}

// failure adds what the command said to the error.
func failure(name string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%s: %w\n%s", name, err, bytes.TrimSpace(exit.Stderr))
	}
	return fmt.Errorf("%s: %w", name, err)
}
