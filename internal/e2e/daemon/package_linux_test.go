package daemon

import (
	"debug/buildinfo"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const moduleRoot = "../../.."

// architectures are Debian's, with what a program for them is.
var architectures = []struct {
	name     string
	machine  elf.Machine
	settings map[string]string // of the build
	inLong   bool              // only with EDDY_LONG=1: each is a program to build
}{
	{"amd64", elf.EM_X86_64, map[string]string{"GOARCH": "amd64", "GOAMD64": "v1"}, false},
	{"arm64", elf.EM_AARCH64, map[string]string{"GOARCH": "arm64", "GOARM64": "v8.0"}, false},
	{"armhf", elf.EM_ARM, map[string]string{"GOARCH": "arm", "GOARM": "7"}, true},
	{"i386", elf.EM_386, map[string]string{"GOARCH": "386", "GO386": "softfloat"}, true},
	{"riscv64", elf.EM_RISCV, map[string]string{"GOARCH": "riscv64", "GORISCV64": "rva20u64"}, true},
	{"mipsel", elf.EM_MIPS, map[string]string{"GOARCH": "mipsle", "GOMIPS": "hardfloat"}, true},
}

func TestDebianPackage(t *testing.T) {
	for _, a := range architectures {
		if a.inLong && os.Getenv("EDDY_LONG") != "1" {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			root := unpacked(t, buildPackage(t, a.name), a.name)
			program := filepath.Join(root, "usr/bin/eddy")
			f, err := elf.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Machine != a.machine {
				t.Errorf("a program for %v, want %v", f.Machine, a.machine)
			}
			if libraries, err := f.ImportedLibraries(); len(libraries) > 0 || err != nil {
				t.Errorf("not static: %v, %v", libraries, err)
			}
			info, err := buildinfo.ReadFile(program)
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]string)
			for _, s := range info.Settings {
				got[s.Key] = s.Value
			}
			for key, want := range a.settings {
				if got[key] != want {
					t.Errorf("built with %s=%s, want %s", key, got[key], want)
				}
			}
			if a.name == runtime.GOARCH {
				check := exec.Command(program, "config", "check", "--config", filepath.Join(root, "etc/eddy/eddy.toml"))
				if text, err := check.CombinedOutput(); err != nil {
					t.Errorf("the file in the package: %v\n%s", err, text)
				}
			}
		})
	}
}

func TestNoSuchArchitecture(t *testing.T) {
	cmd := exec.Command("go", "run", "./packaging/deb", "--arch", "vax", "--out", t.TempDir())
	cmd.Dir = moduleRoot
	if text, err := cmd.CombinedOutput(); err == nil || !strings.HasPrefix(string(text), "deb: no such architecture: vax: see --help\n") {
		t.Errorf("%v: %s", err, text)
	}
}

// buildPackage returns the package for an architecture.
func buildPackage(t *testing.T, arch string) (deb string) {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command("go", "run", "./packaging/deb", "--out", out, "--version", "1.2.3", "--arch", arch)
	cmd.Dir = moduleRoot
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return filepath.Join(out, "eddy_1.2.3_"+arch+".deb")
}

// unpacked checks what a package says of itself and returns what is in it.
func unpacked(t *testing.T, deb, arch string) (root string) {
	t.Helper()
	info, err := exec.Command("dpkg-deb", "--info", deb).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, info)
	}
	for _, want := range []string{" Package: eddy\n", " Version: 1.2.3\n", " Architecture: " + arch + "\n", "conffiles", "postinst"} {
		if !strings.Contains(string(info), want) {
			t.Errorf("no %q in\n%s", want, info)
		}
	}
	list, err := exec.Command("dpkg-deb", "--contents", deb).Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for line := range strings.Lines(string(list)) {
		f := strings.Fields(line)
		if f[1] != "root/root" {
			t.Errorf("not root's: %s", line)
		}
		if strings.HasPrefix(f[0], "-") {
			files = append(files, f[0]+" "+f[len(f)-1])
		}
	}
	slices.Sort(files)
	want := []string{
		"-rw-r--r-- ./etc/eddy/eddy.toml",
		"-rw-r--r-- ./usr/lib/systemd/system/eddy.service",
		"-rw-r--r-- ./usr/lib/systemd/system/eddy.socket",
		"-rw-r--r-- ./usr/share/doc/eddy/README.md",
		"-rw-r--r-- ./usr/share/doc/eddy/configuration.md",
		"-rw-r--r-- ./usr/share/doc/eddy/operations.md",
		"-rw-r--r-- ./usr/share/doc/eddy/security.md",
		"-rwxr-xr-x ./usr/bin/eddy",
	}
	if !slices.Equal(files, want) {
		t.Errorf("the package has\n%s", strings.Join(files, "\n"))
	}
	root = t.TempDir()
	if text, err := exec.Command("dpkg-deb", "-x", deb, root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return root
}

// The command in the unit is one that eddy understands, and each line of the
// units is a key with a value in a section.
func TestUnits(t *testing.T) {
	for _, name := range []string{"eddy.service", "eddy.socket"} {
		text, err := os.ReadFile(filepath.Join(moduleRoot, "packaging/systemd", name))
		if err != nil {
			t.Fatal(err)
		}
		section := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			key, value, isKey := strings.Cut(line, "=")
			switch {
			case line == "" || strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "["):
				section = line
			case !isKey || section == "" || value == "":
				t.Errorf("%s: %s", name, line)
			case key == "ExecStart":
				args := strings.Fields(value)
				if args[0] != "/usr/bin/eddy" || args[1] != "serve" {
					t.Errorf("%s: %s", name, line)
				}
				for _, a := range args[2:] {
					if help, _, _ := eddy("serve", "--help"); strings.HasPrefix(a, "--") && !strings.Contains(help, a+"=") {
						t.Errorf("%s: eddy serve has no %s", name, a)
					}
				}
			}
		}
	}
}

func TestFirmwareIsSmall(t *testing.T) {
	program := filepath.Join(t.TempDir(), "firmware")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "eddy.example/examples/firmware")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("firmware has %d bytes", info.Size())
	if info.Size() >= 8<<20 {
		t.Errorf("firmware has %d bytes", info.Size())
	}
}
