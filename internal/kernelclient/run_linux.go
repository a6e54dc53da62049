package kernelclient

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"eddy.example/internal/netns"
)

// A Net is how a guest reaches the server.
type Net struct {
	ns     *netns.NS
	server netip.Addr
	guest  netip.Prefix
	index  int
	netdev string // for QEMU
}

// User is a network through QEMU: the guest reaches this machine's 127.0.0.1,
// from ports above 1023 of that address.
func User() Net {
	return Net{
		server: netip.MustParseAddr("10.0.2.2"),
		guest:  netip.MustParsePrefix("10.0.2.15/24"),
		netdev: "user,id=n,ipv6=off",
	}
}

// TAP creates a TAP device in the namespace, for one guest at a time. The
// index, 0 to 63, keeps the devices of one namespace apart. It is for the
// goroutine of the namespace's test.
func TAP(ns *netns.NS, index int) Net {
	// A /30 of the documentation network 192.0.2.0/24 (RFC 5737).
	addr := func(host int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(4*index + host)}) }
	dev := fmt.Sprintf("guest%d", index)
	n := Net{
		ns:     ns,
		server: addr(1),
		guest:  netip.PrefixFrom(addr(2), 30),
		index:  index,
		netdev: "tap,id=n,script=no,downscript=no,ifname=" + dev,
	}
	ns.AddTAP(dev, netip.PrefixFrom(n.server, 30).String())
	return n
}

// Server is the address by which the guest knows the server. With [TAP] it is
// also the one to listen on, inside the namespace.
func (n Net) Server() netip.Addr { return n.server }

// Config says what a guest is to do. Kernel, Net and Script are required.
type Config struct {
	Kernel *Kernel
	Net    Net
	Script string // for bash

	Port      int    // of the server; 0 is 2049
	MountPort int    // of MOUNT version 3; 0 is Port
	Export    string // what kc_mount mounts; "" is "/"

	Files   map[string]string // files and folders of this machine by their path in the guest; programs bring their shared libraries
	Modules []string          // kernel modules that modprobe finds in the guest, besides those of NFS and netem

	Memory int // MiB; 0 is 1024
	CPUs   int // 0 is 1

	// Timeout ends a guest that hangs; 0 is 10 minutes. It has to be generous:
	// emulation is slow, and slower on a busy machine.
	Timeout time.Duration

	// Console gets what the guest prints, as it does. It may be nil.
	Console io.Writer
}

// Output is what came out of a guest.
type Output struct {
	Console string            // all that the kernel and the script printed
	Files   map[string][]byte // what the script left in /out, by its path there
}

// An ExitError says that the script ran to its end with another status than 0.
type ExitError struct {
	Status int
	end    string
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("kernelclient: script returned %d; the console ended with\n%s", e.Status, e.end)
}

// Run boots a guest and runs the script in it. The error is an [ExitError] if
// the script failed, anything else if it could not be run to its end; the
// output is there as far as it goes, in either case. Several guests may run at
// a time.
func Run(ctx context.Context, c Config) (Output, error) {
	dir, err := os.MkdirTemp("", "kernelclient-")
	if err != nil {
		return Output{}, fmt.Errorf("kernelclient: %w", err)
	}
	defer os.RemoveAll(dir)

	image, result := filepath.Join(dir, "initramfs"), filepath.Join(dir, "result")
	if err := writeInitramfs(ctx, &c, image); err != nil {
		return Output{}, fmt.Errorf("kernelclient: building the guest: %w", err)
	}
	var console bytes.Buffer
	qemuErr := boot(ctx, &c, image, result, &console)
	out := Output{Console: console.String()}
	status, err := readResult(result, &out)
	switch {
	case qemuErr != nil:
		err = fmt.Errorf("kernelclient: %w; the console ended with\n%s", qemuErr, lastLines(out.Console))
	case err != nil:
		err = fmt.Errorf("kernelclient: the guest ended without a result (%w); the console ended with\n%s", err, lastLines(out.Console))
	case status != 0:
		err = &ExitError{status, lastLines(out.Console)}
	}
	return out, err
}

func writeInitramfs(ctx context.Context, c *Config, path string) error {
	i, err := newInitramfs(ctx, c)
	if err != nil {
		return err
	}
	i.file("kc/script", modeFile, []byte(c.Script))
	port := cmp.Or(c.Port, 2049)
	var env strings.Builder
	for _, v := range [][2]string{
		{"PATH", "/usr/bin"}, {"HOME", "/root"}, {"LC_ALL", "C"},
		{"SERVER", c.Net.server.String()},
		{"PORT", strconv.Itoa(port)},
		{"MOUNTPORT", strconv.Itoa(cmp.Or(c.MountPort, port))},
		{"EXPORT", cmp.Or(c.Export, "/")},
		{"KC_ADDRESS", c.Net.guest.String()},
		{"KC_MODULES", strings.Join(i.boot, " ")},
	} {
		fmt.Fprintf(&env, "export %s='%s'\n", v[0], strings.ReplaceAll(v[1], "'", `'\''`))
	}
	i.file("kc/env", modeFile, []byte(env.String()))

	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := i.writeCPIO(w); err != nil {
		return err
	}
	return w.Flush()
}

// kernelParameters make booting under emulation quick.
var kernelParameters = []string{
	"console=ttyS0", "quiet", "panic=-1", "8250.nr_uarts=1",
	"nokaslr", "mitigations=off", "init_on_alloc=0", "lsm=", "audit=0", "nowatchdog",
	"tsc=reliable", "no_timer_check", "cryptomgr.notests", "random.trust_cpu=on", "rcupdate.rcu_expedited=1",
}

// boot runs QEMU to the guest's end. The machine is q35: microvm, though made
// for this, hangs in half of its boots under emulation.
func boot(ctx context.Context, c *Config, initramfs, result string, console io.Writer) error {
	timeout := cmp.Or(c.Timeout, 10*time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("the guest was not done after %v", timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64",
		"-M", "q35,usb=off,vmport=off", "-accel", "tcg,thread=multi", "-cpu", "max",
		"-m", strconv.Itoa(cmp.Or(c.Memory, 1024)), "-smp", strconv.Itoa(cmp.Or(c.CPUs, 1)),
		"-no-user-config", "-nodefaults", "-display", "none", "-no-reboot",
		"-kernel", c.Kernel.image, "-initrd", initramfs, "-append", strings.Join(kernelParameters, " "),
		"-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console",
		"-netdev", c.Net.netdev,
		"-device", fmt.Sprintf("virtio-net-pci,romfile=,netdev=n,mac=52:54:00:c0:00:%02x", c.Net.index+2),
		"-chardev", "file,id=result,path="+result,
		"-device", "virtio-serial-pci", "-device", "virtserialport,chardev=result,name=result",
	)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = console, &stderr
	if c.Console != nil {
		cmd.Stdout = io.MultiWriter(console, c.Console)
	}
	// The guest must not outlive a test that was killed. The signal comes when
	// the thread that started it ends, so that thread waits.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if c.Net.ns != nil {
		err = c.Net.ns.Do(cmd.Run)
	} else {
		runtime.LockOSThread()
		err = cmd.Run()
		runtime.UnlockOSThread()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("qemu-system-x86_64: %w %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// readResult reads the archive of the guest's /out.
func readResult(name string, out *Output) (status int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	out.Files = make(map[string][]byte)
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		if h.Typeflag == tar.TypeReg {
			if out.Files[path.Clean(h.Name)], err = io.ReadAll(r); err != nil {
				return 0, err
			}
		}
	}
	text, ok := out.Files[".status"]
	if !ok {
		return 0, errors.New("no exit status")
	}
	delete(out.Files, ".status")
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// lastLines is as much of a console as an error message should show.
func lastLines(console string) string {
	lines := slices.Collect(strings.Lines(console))
	return strings.Join(lines[max(0, len(lines)-40):], "")
}
