// Command deb builds the Debian package of eddy with dpkg-deb:
//
//	go run ./packaging/deb [--arch amd64] [--version 0.1.0] [--out DIR]
//
// The program in it is static. Run it in the module's root.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	p := pkg{}
	flag.StringVar(&p.arch, "arch", "amd64", "Debian `architecture`: amd64, arm64, armhf, i386, riscv64 or mipsel")
	flag.StringVar(&p.version, "version", "0.1.0", "the package's `version`")
	flag.StringVar(&p.out, "out", ".", "the `directory` that gets the package")
	flag.Parse()
	if err := p.build(); err != nil {
		log.Fatalf("deb: %v", err)
	}
	fmt.Println(p.path())
}

type pkg struct{ arch, version, out string }

// targets are Go's names for Debian's architectures, with the oldest processors that
// Debian runs on: i386 is an i686, which need not have SSE2, armhf an ARMv7 with VFPv3.
var targets = map[string][]string{
	"amd64":   {"GOARCH=amd64", "GOAMD64=v1"},
	"arm64":   {"GOARCH=arm64", "GOARM64=v8.0"},
	"armhf":   {"GOARCH=arm", "GOARM=7"},
	"i386":    {"GOARCH=386", "GO386=softfloat"},
	"riscv64": {"GOARCH=riscv64", "GORISCV64=rva20u64"},
	"mipsel":  {"GOARCH=mipsle", "GOMIPS=hardfloat"},
}

// files are what the package has besides the program.
var files = []struct{ from, to string }{
	{"packaging/eddy.toml", "etc/eddy/eddy.toml"},
	{"packaging/systemd/eddy.service", "usr/lib/systemd/system/eddy.service"},
	{"packaging/systemd/eddy.socket", "usr/lib/systemd/system/eddy.socket"},
	{"README.md", "usr/share/doc/eddy/README.md"},
	{"docs/configuration.md", "usr/share/doc/eddy/configuration.md"},
	{"docs/operations.md", "usr/share/doc/eddy/operations.md"},
	{"docs/security.md", "usr/share/doc/eddy/security.md"},
}

const program = "usr/bin/eddy"

func (p pkg) path() string {
	return filepath.Join(p.out, fmt.Sprintf("eddy_%s_%s.deb", p.version, p.arch))
}

func (p pkg) build() error {
	target, ok := targets[p.arch]
	if !ok {
		return fmt.Errorf("no such architecture: %s: see --help", p.arch)
	}
	root, err := os.MkdirTemp("", "eddy-deb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)

	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(root, program), "./cmd/eddy")
	build.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux"), target...)
	if err := quietly(build); err != nil {
		return err
	}
	for _, f := range files {
		text, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		if err := put(filepath.Join(root, f.to), string(text)); err != nil {
			return err
		}
	}
	size, err := kib(root)
	if err != nil {
		return err
	}
	control := fmt.Sprintf(control, p.version, p.arch, size)
	for name, text := range map[string]string{"control": control, "conffiles": "/etc/eddy/eddy.toml\n"} {
		if err := put(filepath.Join(root, "DEBIAN", name), text); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"postinst": postinst, "prerm": prerm, "postrm": postrm} {
		path := filepath.Join(root, "DEBIAN", name)
		if err := put(path, text); err != nil {
			return err
		}
		if err := os.Chmod(path, 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(root, 0o755); err != nil {
		return err
	}
	return quietly(exec.Command("dpkg-deb", "--root-owner-group", "--build", root, p.path()))
}

// put writes a file that everybody may read.
func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func kib(root string) (n int64, err error) {
	err = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += (info.Size() + 1023) / 1024
		}
		return err
	})
	return n, err
}

func quietly(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

const control = `Package: eddy
Version: %s
Architecture: %s
Installed-Size: %d
Maintainer: Eddy <eddy@eddy.example>
Section: net
Priority: optional
Description: NFS server whose reply pages circle back
 Eddy serves directories over NFSv3, and has small commands that use any NFS
 server without root. It is one static program.
`

// The server is neither enabled nor started by installing it: what is served
// is decided first.
const postinst = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	if [ -n "$2" ]; then systemctl try-restart eddy.service || true; fi
fi
`

const prerm = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl stop eddy.service eddy.socket || true
fi
`

const postrm = `#!/bin/sh
set -e
if [ "$1" = purge ]; then rm -rf /var/lib/eddy; fi
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
`
