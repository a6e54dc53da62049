package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func env(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "eddy.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestPrecedence(t *testing.T) {
	name := write(t, "log-level = \"debug\"\nworkers = 3\nsquash = \"all\"\n")
	flags := &Config{File: name, LogLevel: "error"}
	c, err := Given{
		Flags:  flags,
		Set:    func(name string) bool { return name == "config" || name == "log-level" },
		Getenv: env(map[string]string{"EDDY_LOG_LEVEL": "warn", "EDDY_WORKERS": "5"}),
	}.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct{ name, got, want, from string }{
		{"log-level", c.LogLevel, "error", "--log-level"},
		{"workers", text(Fields(c)[slices.Index(names(c), "workers")].value), "5", "EDDY_WORKERS"},
		{"squash", c.Squash, "all", name + ":3"},
		{"addr", c.Addr, "127.0.0.1:2049", "default"},
	} {
		if s.got != s.want || c.From(s.name) != s.from {
			t.Errorf("%s is %q from %s, want %q from %s", s.name, s.got, c.From(s.name), s.want, s.from)
		}
	}
}

func TestExportsHaveTheTermsOfAll(t *testing.T) {
	c, err := Given{Getenv: env(map[string]string{"EDDY_CONFIG": write(t, `
read-only = true
network = ["192.0.2.0/24"]

[[export]]
path = "/a/"
dir = "/srv/a"

[[export]]
path = "/b"
dir = "/srv/b"
read-only = false
network = ["198.51.100.7"]
`)})}.Load()
	if err != nil {
		t.Fatal(err)
	}
	a, b := c.Exports[0], c.Exports[1]
	if a.Path != "/a" || !a.ReadOnly || a.Network[0].String() != "192.0.2.0/24" {
		t.Errorf("/a is %+v", a)
	}
	if b.ReadOnly || len(b.Network) != 1 || b.Network[0].String() != "198.51.100.7/32" || c.Network[0].String() != "192.0.2.0/24" {
		t.Errorf("/b is %+v", b)
	}
}

func TestDirGoesBeforeTheFile(t *testing.T) {
	name := write(t, "[[export]]\npath = \"/a\"\ndir = \"/srv/a\"\n")
	c, err := Given{Dir: "here", Getenv: env(map[string]string{"EDDY_CONFIG": name})}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Exports) != 1 || c.Exports[0].Path != "/" || c.Exports[0].Dir != "here" {
		t.Errorf("exports are %+v", c.Exports)
	}
}

// What is wrong in a file is one line that names the place.
func TestFileErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"read-olny = true\n", `1: unknown key "read-olny": did you mean read-only?`},
		{"\nfrobnicate = 1\n", `2: unknown key "frobnicate": the keys are the flags that eddy serve --help lists`},
		{"read-only = \"maybe\"\n", `1: read-only wants true or false, not "maybe"`},
		{"workers = \"two\"\n", `1: workers wants a number from 0 to 2147483647, not "two"`},
		{"workers = -1\n", `1: workers wants a number from 0 to 2147483647, not -1`},
		{"addr = 2049\n", `1: addr wants a string, not 2049`},
		{"addr = \"localhost\"\n", `1: addr wants HOST:PORT, such as 127.0.0.1:2049 or [::1]:2049, not "localhost"`},
		{"versions = [\"4\"]\n", `1: versions: only NFS version 3 is served by now: write 3`},
		{"squash = \"roots\"\n", `1: squash is root, none or all, not "roots"`},
		{"network = [\"10.0.0.0/33\"]\n", `1: network wants networks such as 192.0.2.0/24 or 2001:db8::/32, not "10.0.0.0/33"`},
		{"network = 7\n", `1: network wants a list of strings, such as ["192.0.2.0/24"], not 7`},
		{"idle-timeout = 30\n", `1: idle-timeout wants a time with its unit, such as 30s or 10m, not "30"`},
		{"pool-bytes = \"4MB\"\n", `1: pool-bytes wants a size such as 65536, 64KiB or 4MiB, not "4MB"`},
		{"path = \"/a\"\n", `1: path is a key of an export: write it below [[export]]`},
		{"export = 1\n", `1: export wants tables: write [[export]] above the keys of each`},
		{"[export]\npath = \"/a\"\n", `1: export wants tables: write [[export]] above the keys of each`},
		{"\n[[export]]\npath = \"/a\"\n", `2: export /a needs a directory: dir = "/srv/data"`},
		{"[[export]]\ndir = \"/a\"\n", `1: an export needs a path, which clients mount: path = "/data"`},
		{"[[export]]\npath = \"a\"\ndir = \"/a\"\n", `1: the path of an export begins with / and has no "..": not "a"`},
		{"[[export]]\npath = \"/a\"\ndir = \"/a\"\naddr = \"x\"\n", `4: addr is a key of the server: write it above the first [[export]]`},
		{"[[export]]\npath = \"/a\"\ndir = \"/a\"\n[[export]]\npath = \"/b\"\ndir = \"/b\"\nfsid = true\n", `7: fsid wants a number from 0 to 4294967294, not true`},
		{"[[export]]\npath = \"/a\"\ndir = \"/a\"\n[[export]]\npath = \"/a/\"\ndir = \"/b\"\n", `4: there are two exports with the path /a: give one another path`},
		{"a = 1\na = 2\n", `2: Key 'a' has already been defined.`},
	} {
		name := write(t, c.text)
		_, err := Given{Getenv: env(map[string]string{"EDDY_CONFIG": name})}.Load()
		if err == nil {
			t.Errorf("%q is taken", c.text)
			continue
		}
		if got := strings.TrimPrefix(err.Error(), name+":"); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// Every setting can be given as text and as TOML, and says the same.
func TestTextAndTOMLAgree(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		vars := make(map[string]string)
		var file strings.Builder
		fromEnv := Default()
		for _, f := range Fields(fromEnv) {
			if f.Name == "config" || f.Name == "export" || f.Name == "versions" || f.Name == "addr" || f.Name == "metrics" || !rapid.Bool().Draw(t, f.Name) {
				continue
			}
			value := drawText(t, f)
			if err := f.setText(value); err != nil {
				t.Fatalf("%s = %q: %v", f.Name, value, err)
			}
			vars[f.Env()] = value
			file.WriteString(f.Name + " = " + f.TOML() + "\n")
		}
		name := filepath.Join(dir, "eddy.toml")
		if err := os.WriteFile(name, []byte(file.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := Given{Getenv: env(vars)}.Load()
		if err != nil {
			t.Fatal(err)
		}
		b, err := Given{Getenv: env(map[string]string{"EDDY_CONFIG": name})}.Load()
		if err != nil {
			t.Fatalf("%v in\n%s", err, file.String())
		}
		fa, fb := Fields(a), Fields(b)
		for i, f := range fa {
			if f.Name != "config" && !slices.Equal(f.Texts(), fb[i].Texts()) {
				t.Errorf("%s is %q from the environment and %q from the file", f.Name, f.Texts(), fb[i].Texts())
			}
		}
	})
}

func drawText(t *rapid.T, f Field) string {
	if f.Enum != nil {
		return rapid.SampledFrom(f.Enum).Draw(t, f.Name+" value")
	}
	switch f.value.Interface().(type) {
	case bool:
		return rapid.SampledFrom([]string{"true", "false", "on", "off"}).Draw(t, f.Name+" value")
	case int, uint32:
		return rapid.StringMatching("[1-9][0-9]{0,8}").Draw(t, f.Name+" value")
	case Bytes:
		return rapid.StringMatching("[1-9][0-9]{0,3}(KiB)?").Draw(t, f.Name+" value")
	case Duration:
		return rapid.StringMatching("[1-9][0-9]{0,3}(s|m|h)").Draw(t, f.Name+" value")
	case []Network:
		return "192.0.2.0/24,2001:db8::/32"
	case string:
		return rapid.StringMatching(`[ -~\t\n]{1,20}`).Draw(t, f.Name+" value")
	}
	return rapid.SampledFrom([]string{"auto", "always", "never"}).Draw(t, f.Name+" value")
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"read-olny", "read-only"}, {"sqash", "squash"}, {"network", "network"}, {"zzzz", ""},
	} {
		if got := Nearest(c.typed, names(new(Config))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.typed, got, c.want)
		}
	}
}
