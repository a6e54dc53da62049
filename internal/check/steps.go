package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A step is one line of the report.
type step struct {
	name  string
	needs []string // programs, each a key of debian
	run   func(context.Context) result
}

// A result is what a step found. The details are shown if something failed or
// was skipped, and end with a newline unless empty.
type result struct {
	tally
	details string
}

func (r result) status() string {
	if r.failed > 0 {
		return "FAIL"
	}
	return "ok"
}

// steps is everything there is to check, cheap steps first.
func steps(long bool) []step {
	timeout, emulatedTimeout, fuzztime := "15m", "30m", "5s"
	if long {
		timeout, emulatedTimeout, fuzztime = "90m", "90m", "60s"
	}
	s := []step{
		{name: "gofmt", run: silent("gofmt", "-l", ".")},
		{name: "tidy", run: commands(goCmd("mod", "tidy", "-diff"))},
		{name: "vet", run: commands(
			goCmd("vet", "./..."),
			goCmd("vet", "-tags=invariants", "./..."),
			goCmd("vet", "-tags=ungated", "./..."),
			goCmd("vet", "./...").on("linux", "386"),
			goCmd("vet", "./...").on("darwin", "arm64"),
			goCmd("vet", "./...").on("freebsd", "amd64"),
		)},
		{name: "staticcheck", run: commands(goCmd("tool", "staticcheck", "./..."))},
		{name: "generate", run: regenerate(".", goCmd("generate", "./..."))},
	}
	for _, target := range []string{
		"linux/amd64", "linux/arm64", "linux/arm", "linux/386", "linux/mipsle", "linux/riscv64",
		"darwin/arm64", "freebsd/amd64",
	} {
		goos, goarch, _ := strings.Cut(target, "/")
		s = append(s, step{name: "build:" + target, run: commands(goCmd("build", "./...").on(goos, goarch))})
	}
	return append(s,
		// Every test once, as a user's build has it. Integration tests share
		// the machine with guests and captures, so their packages take turns.
		step{name: "test:unit", run: goTest{pkgs: unit, timeout: timeout}.run},
		step{name: "test:e2e", needs: e2ePrograms, run: goTest{pkgs: integration, timeout: timeout, flags: []string{"-p=1"}}.run},

		// Under race the pool's memory comes from the Go heap, so the mmapped
		// pages' own traps are only armed without it.
		step{name: "race", needs: []string{"gcc"}, run: goTest{pkgs: repeated, timeout: timeout, flags: []string{"-race", "-tags=invariants"}}.run},
		step{name: "invariants", run: goTest{pkgs: library, timeout: timeout, flags: []string{"-tags=invariants"}}.run},

		// Emulated, the tests take ten times as long.
		step{name: "386", run: on386(goTest{pkgs: library, timeout: emulatedTimeout})},

		// Processors of appliances. qemu-user runs on this machine's kernel, but
		// does not pass on all that the kernel can do.
		step{name: "arm", needs: []string{"qemu-arm"}, run: emulated("arm", "qemu-arm", emulatedTimeout)},
		step{name: "mipsle", needs: []string{"qemu-mipsel"}, run: emulated("mipsle", "qemu-mipsel", emulatedTimeout)},

		step{name: "fuzz", run: fuzz(fuzztime)},
	)
}

var e2ePrograms = []string{"ip", "nfs-ls", "showmount", "rpcbind", "tcpdump", "tshark", "qemu-system-x86_64", "busybox", "modprobe", "zstd", "xz", "chromium",
	"mkfs.btrfs", "mkfs.ext4", "mkfs.xfs", "mount", "git", "make", "gcc", "tcc"}

// debian names the package of each program that a step may need. .ci/run
// installs them.
var debian = map[string]string{
	"busybox":            "busybox-static",
	"chromium":           "chromium",
	"gcc":                "gcc",
	"git":                "git",
	"ip":                 "iproute2",
	"mkfs.btrfs":         "btrfs-progs",
	"mkfs.ext4":          "e2fsprogs",
	"mkfs.xfs":           "xfsprogs",
	"make":               "make",
	"modprobe":           "kmod",
	"mount":              "mount",
	"nfs-ls":             "libnfs-utils",
	"qemu-arm":           "qemu-user",
	"qemu-mipsel":        "qemu-user",
	"qemu-system-x86_64": "qemu-system-x86",
	"rpcbind":            "rpcbind",
	"showmount":          "nfs-common",
	"tcc":                "tcc",
	"tcpdump":            "tcpdump",
	"tshark":             "tshark",
	"xz":                 "xz-utils",
	"zstd":               "zstd",
}

func (s step) execute(ctx context.Context) result {
	var missing []string
	for _, p := range s.needs {
		if _, err := exec.LookPath(p); err != nil {
			missing = append(missing, debian[p])
		}
	}
	if len(missing) > 0 {
		return failed("apt-get install %s    (or bash .ci/run, which installs all it needs)\n", strings.Join(missing, " "))
	}
	return s.run(ctx)
}

// commands is a step that passes if each command succeeds.
func commands(cmds ...command) func(context.Context) result {
	return func(ctx context.Context) result {
		var details strings.Builder
		for _, c := range cmds {
			if out, err := run(ctx, c); err != nil {
				fmt.Fprintf(&details, "%v: %v\n%s", c, err, out)
			}
		}
		return judge(details.String())
	}
}

// silent is a step that passes if the command has nothing to say.
func silent(args ...string) func(context.Context) result {
	return func(ctx context.Context) result {
		out, err := run(ctx, command{args: args})
		if err != nil {
			return failed("%v\n%s", err, out)
		}
		return judge(out)
	}
}

// on386 is a step that runs 32-bit tests, in a guest if this machine's kernel
// does not run 32-bit programs.
func on386(g goTest) func(context.Context) result {
	return func(ctx context.Context) result {
		dir, err := os.MkdirTemp("", "check-")
		if err != nil {
			return failed("%v\n", err)
		}
		defer os.RemoveAll(dir)
		runner := filepath.Join(dir, "run386")
		if out, err := run(ctx, goCmd("build", "-o", runner, "./internal/kernelclient/run386")); err != nil {
			return failed("%v\n%s", err, out)
		}
		g.env = []string{"GOARCH=386", "CGO_ENABLED=0"}
		g.flags = append(g.flags, "-exec="+runner)
		return g.run(ctx)
	}
}

// notEmulated are the tests of what qemu-user lacks (zero-copy notifications,
// the state of single pages, who owns a socket, numbers of mounts, programs that start
// themselves, on mipsle the error of a connect that is refused), and those that count allocations: so slow a process has some of
// the runtime's own among them.
const notEmulated = "^Test(Alloc.*|NoAlloc.*|ZeroCopy.*|NoBuffers|AutoGivesUp|PagesGoBack|SmallPages|FindsMistakes|Nobody|RegisterTaken|MountedOn|ListingOpensOne)$"

// emulated is a step that runs the library's tests on another processor.
func emulated(goarch, qemu, timeout string) func(context.Context) result {
	return goTest{
		pkgs:    library,
		timeout: timeout,
		flags:   []string{"-exec=" + qemu, "-skip=" + notEmulated},
		env:     []string{"GOARCH=" + goarch, "CGO_ENABLED=0"},
	}.run
}

func judge(complaints string) result {
	if complaints == "" {
		return result{tally: tally{passed: 1}}
	}
	return failed("%s", complaints)
}

func failed(format string, args ...any) result {
	return result{tally{failed: 1}, fmt.Sprintf(format, args...)}
}
