package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const moduleRoot = "../../.."

func TestDebianPackage(t *testing.T) {
	out := t.TempDir()
	cmd := exec.Command("go", "run", "./packaging/deb", "--out", out, "--version", "1.2.3")
	cmd.Dir = moduleRoot
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	deb := filepath.Join(out, "eddy_1.2.3_amd64.deb")
	info, err := exec.Command("dpkg-deb", "--info", deb).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, info)
	}
	for _, want := range []string{"Package: eddy", "Version: 1.2.3", "Architecture: amd64", "conffiles", "postinst"} {
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
	root := t.TempDir()
	if text, err := exec.Command("dpkg-deb", "-x", deb, root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	check := exec.Command(filepath.Join(root, "usr/bin/eddy"), "config", "check", "--config", filepath.Join(root, "etc/eddy/eddy.toml"))
	if text, err := check.CombinedOutput(); err != nil {
		t.Errorf("the file in the package: %v\n%s", err, text)
	}
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
