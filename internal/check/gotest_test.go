package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a throw-away module and makes it the working directory.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.test\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func every(string) bool { return true }

func TestGoTestCounts(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  tally
		says  []string // parts of the details
		not   []string // parts that are not in the details
	}{
		{
			name: "leaves",
			files: map[string]string{"a_test.go": `package a
				import "testing"
				func TestPlain(t *testing.T) { t.Log("quiet") }
				func TestParent(t *testing.T) {
					t.Run("good", func(t *testing.T) {})
					t.Run("bad", func(t *testing.T) { t.Parallel(); t.Error("the reason") })
					t.Run("deep", func(t *testing.T) { t.Run("er", func(t *testing.T) { t.Skip("for want of") }) })
				}`},
			want: tally{2, 1, 1},
			says: []string{"the reason", "TestParent/bad", "TestParent/deep/er", "for want of"},
			not:  []string{"quiet"},
		},
		{
			name: "a parent's own failure",
			files: map[string]string{"a_test.go": `package a
				import "testing"
				func TestParent(t *testing.T) {
					t.Run("good", func(t *testing.T) {})
					t.Error("afterwards")
				}`},
			want: tally{1, 1, 0},
			says: []string{"afterwards"},
		},
		{
			name: "TestMain's failure",
			files: map[string]string{"a_test.go": `package a
				import ("os"; "testing")
				func TestMain(m *testing.M) { m.Run(); println("a leak"); os.Exit(1) }
				func TestGood(t *testing.T) {}`},
			want: tally{1, 1, 0},
			says: []string{"a leak"},
		},
		{
			name: "a panic elsewhere",
			files: map[string]string{"a_test.go": `package a
				import "testing"
				func TestGood(t *testing.T) {}
				func TestStuck(t *testing.T) { t.Log("on the way"); go panic("from a goroutine"); select {} }`},
			want: tally{1, 1, 0},
			says: []string{"from a goroutine"},
		},
		{
			name: "no build",
			files: map[string]string{
				"good/a_test.go": "package a\nimport \"testing\"\nfunc TestGood(t *testing.T) {}\n",
				"bad/a_test.go":  "package a\nimport \"testing\"\nfunc TestBad(t *testing.T) { undefinedName() }\n",
				"none/a.go":      "package none\n",
			},
			want: tally{1, 1, 0},
			says: []string{"undefinedName"},
		},
		{
			name: "vet",
			files: map[string]string{
				"a_test.go": "package a\nimport (\"fmt\"; \"testing\")\nfunc TestBad(t *testing.T) { fmt.Printf(\"%d\", \"\") }\n",
			},
			want: tally{0, 1, 0},
			says: []string{"wrong type"},
		},
		{
			name:  "out of time",
			files: map[string]string{"a_test.go": "package a\nimport \"testing\"\nfunc TestStuck(t *testing.T) { select {} }\n"},
			want:  tally{0, 1, 0},
			says:  []string{"panic: test timed out"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			module(t, c.files)
			timeout := "1m"
			if c.name == "out of time" {
				timeout = "1ms"
			}
			got := goTest{pkgs: every, timeout: timeout}.run(t.Context())
			if got.tally != c.want {
				t.Errorf("got %v, want %v", got.tally, c.want)
			}
			for _, s := range c.says {
				if !strings.Contains(got.details, s) {
					t.Errorf("details lack %q", s)
				}
			}
			for _, s := range c.not {
				if strings.Contains(got.details, s) {
					t.Errorf("details have %q", s)
				}
			}
			if t.Failed() {
				t.Logf("details:\n%s", got.details)
			}
		})
	}
}

func TestTail(t *testing.T) {
	var tl tail
	for range 5 * tailSize / 8 {
		tl.add("1234567\n")
	}
	tl.add("the end\n")
	if s := tl.String(); len(s) > 2*tailSize || !strings.HasSuffix(s, "the end\n") {
		t.Errorf("kept %d bytes", len(s))
	}
}
