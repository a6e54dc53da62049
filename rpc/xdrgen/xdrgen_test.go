package main

import (
	"bytes"
	"errors"
	"flag"
	goparser "go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// compile returns the Go source for one file.
func compile(name, src string) ([]byte, error) {
	f, err := parse(name, src)
	if err != nil {
		return nil, err
	}
	s, err := resolve([]*file{f})
	if err != nil {
		return nil, err
	}
	return generate(s, f, "p")
}

// The files of testdata show what becomes of single constructs; internal/sample
// has all of them in one file and tests the code.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.x")
	if err != nil || len(paths) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := compile(path, string(src))
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(path, ".x") + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("output differs from %s; -update rewrites it\n%s", golden, got)
			}
		})
	}
}

// What is checked in is what the .x files beside it give.
func TestCheckedIn(t *testing.T) {
	for _, tc := range []struct {
		pkg   string
		paths []string
	}{
		{"sample", []string{"internal/sample/sample.x"}},
		{"rpc", []string{"../rpcmsg.x"}},
		{"nfs3", []string{"../../nfs3/nfs3.x", "../../nfs3/mount.x"}},
	} {
		dir := t.TempDir()
		var copies []string
		for _, path := range tc.paths {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(dir, filepath.Base(path))
			if err := os.WriteFile(to, src, 0o666); err != nil {
				t.Fatal(err)
			}
			copies = append(copies, to)
		}
		if err := run(tc.pkg, copies); err != nil {
			t.Fatal(err)
		}
		for i, path := range tc.paths {
			want, err := os.ReadFile(output(path))
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(output(copies[i]))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not what %s gives; run go generate", output(path), path)
			}
		}
	}
}

// A file uses what another one of the same package defines.
func TestTwoFiles(t *testing.T) {
	a, err := parse("a.x", "const N = 2; typedef opaque fh<N>;")
	if err != nil {
		t.Fatal(err)
	}
	b, err := parse("b.x", "const M = N; struct s { fh f; opaque o<M>; };")
	if err != nil {
		t.Fatal(err)
	}
	s, err := resolve([]*file{a, b})
	if err != nil {
		t.Fatal(err)
	}
	out, err := generate(s, b, "p")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"const M = N", "ConsumeOpaque(b, N)", "ConsumeLen(b, M)"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tc := range []struct{ src, want string }{
		// words
		{"/*\n \xff */", "2:2: file is not plain UTF-8 text"},
		{"/* open", "1:1: comment is not closed"},
		{"const A = 1; /", "1:14: unexpected character '/'"},
		{"const é = 1;", "1:7: unexpected character 'é'"},
		{"#include <x>", "1:1: preprocessor lines are not supported"},
		{"\n %x", "2:2: unexpected character '%'"},
		// syntax
		{"const A = 1", `1:12: expected ";", found end of file`},
		{"const A = ;", `1:11: expected a constant, found ";"`},
		{"const A = void;", `1:11: expected a constant, found "void"`},
		{"const void = 1;", `1:7: "void" is a keyword and cannot be a name`},
		{"const 1 = 1;", `1:7: expected a name, found "1"`},
		{"message M {}", `1:1: expected a definition, found "message"`},
		{"struct s {\n\tint a;\n\tint;\n};", `3:5: expected a name, found ";"`},
		{"struct s { };", `1:12: expected a type, found "}"`},
		{"struct s { int a };", `1:18: expected ";", found "}"`},
		{"enum e { };", `1:10: expected a name, found "}"`},
		{"enum e { A };", `1:12: expected "=", found "}"`},
		{"enum e { A = 1, };", `1:17: expected a name, found "}"`},
		{"union u switch (int n) { int a; };", `1:26: expected "case", found "int"`},
		{"union u switch (int n) { default: void; case 1: void; };", `1:41: default must be the last arm, found "case"`},
		{"typedef opaque o;", "1:16: opaque o needs a size, [n] or <n>"},
		{"typedef opaque *o;", "1:17: opaque o needs a size, [n] or <n>"},
		{"typedef string s[4];", "1:16: string s needs a bound, <n> or <>"},
		{"typedef int a[];", `1:15: expected a constant, found "]"`},
		{"typedef void;", "1:1: typedef of void"},
		{"typedef quadruple q;", "1:9: quadruple is not supported"},
		{"program P { } = 1;", `1:13: expected "version", found "}"`},
		{"program P { version V { } = 1; } = 1;", `1:25: expected a type, found "}"`},
		{"program P { version V { void NULL() = 0; } = 1; } = 1;", `1:35: expected a type, found ")"`},
		// constants
		{"const A = 1; const A = 2;", "1:20: A is already defined at x.x:1:7"},
		{"const TRUE = 1;", "1:7: TRUE is predefined"},
		{"const A = B; const B = 1;", "1:11: B is not a constant defined before"},
		{"const A = 09;", "1:11: 09 is not a number of 64 bits"},
		{"const A = 0b1;", "1:11: 0b1 is not a number"},
		{"const A = 1-;", "1:11: 1- is not a number of 64 bits"},
		{"const A = 0x10000000000000000;", "1:11: 0x10000000000000000 is not a number of 64 bits"},
		{"enum e { A = 2147483648 };", "1:14: A = 2147483648 is not a signed 32-bit number"},
		{"enum e { A = 1 }; enum f { A = 2 };", "1:28: A is already defined at x.x:1:10"},
		{"typedef opaque o<-1>;", "1:18: -1 is not a length"},
		{"typedef opaque o<0x100000000>;", "1:18: 0x100000000 is not a length"},
		{"typedef hyper h[0x1000000];", "1:17: h would take more than 16777216 bytes"},
		// types
		{"struct s { t a; };", "1:12: t is not a type"},
		{"const t = 1; struct s { t a; };", "1:25: t is not a type"},
		{"typedef unsigned int s; struct s { int a; };", "1:32: s is already defined at x.x:1:22"},
		{"typedef hyper int32_t;", "1:15: int32_t is predefined as something else"},
		{"struct a_b { int a; }; struct aB { int a; };", "1:31: aB and a_b both become AB in Go"},
		{"struct s { int a_b; int aB; };", "1:25: s has two members that become AB in Go"},
		{"union u switch (int n) { case 1: int N; };", "1:38: u has two members that become N in Go"},
		{"struct s { void; };", "1:12: void is no member of a struct"},
		{"struct s { s a; };", "1:12: s contains itself; only a list can: a struct whose last member is an optional pointer to it"},
		{"struct s { s a<>; };", "1:12: s contains itself; only a list can: a struct whose last member is an optional pointer to it"},
		{"struct s { s *a; int b; };", "1:12: s contains itself; only a list can: a struct whose last member is an optional pointer to it"},
		{"struct s { t a; }; struct t { s *a; };", "1:31: s contains itself; only a list can: a struct whose last member is an optional pointer to it"},
		{"typedef t s; typedef s t;", "1:22: s contains itself; only a list can: a struct whose last member is an optional pointer to it"},
		{"struct s { s *next; };", "1:15: s is a list of nothing"},
		{"struct s { int a; s *next; }; struct t { s one; };", "1:42: s is an element of a list and can only be declared as s *one"},
		{"struct s { int a; s *next; }; typedef s many<>;", "1:39: s is an element of a list and can only be declared as s *many"},
		{"typedef opaque none[0]; typedef none many<>;", "1:38: many would be an array of elements without size"},
		// unions
		{"union u switch (hyper n) { case 1: void; };", "1:23: a union switches on an integer, a bool or an enum"},
		{"union u switch (int n<>) { case 1: void; };", "1:21: a union switches on an integer, a bool or an enum"},
		{"union u switch (void) { case 1: void; };", "1:17: a union switches on an integer, a bool or an enum"},
		{"union u switch (int n) { case 1: case 1: void; };", "1:39: case 1 occurs twice"},
		{"union u switch (unsigned n) { case -1: void; };", "1:36: case -1 is no value of n"},
		{"union u switch (bool b) { case 2: void; };", "1:32: case 2 is no value of b"},
		{"enum e { A = 1 }; union u switch (e n) { case 2: void; };", "1:47: case 2 is no value of n"},
		// programs
		{"program P { version V { void A(void) = 0; void B(void) = 0; } = 1; } = 1;", "1:48: procedure 0 occurs twice in V"},
		{"program P { version V { void A(void) = 0; } = 1; version W { void B(void) = 0; } = 1; } = 1;", "1:58: version 1 occurs twice in P"},
		{"program P { version V { void A(void) = -1; } = 1; } = 1;", "1:40: A = -1 is not an unsigned 32-bit number"},
		{"program P { version V { t A(void) = 0; } = 1; } = 1;", "1:25: t is not a type"},
		{"program P { version V { void A(struct { int a; }) = 0; } = 1; } = 1;", "1:32: type of a procedure must have a name"},
		{"struct s { int a; s *n; }; program P { version V { s A(void) = 0; } = 1; } = 1;", "1:52: s is an element of a list, not a list"},
	} {
		_, err := compile("x.x", tc.src)
		var at *srcError
		if !errors.As(err, &at) || err.Error() != "x.x:"+tc.want {
			t.Errorf("%s\n got %v\nwant x.x:%s", tc.src, err, tc.want)
		}
	}
}

func TestPassedLinesMustBeGo(t *testing.T) {
	if _, err := compile("x.x", "%#include <c.h>\n"); err == nil || !strings.Contains(err.Error(), "x.x: output is not valid Go") {
		t.Errorf("got %v", err)
	}
}

// Whatever the input, there is either an error or Go source.
func FuzzCompile(f *testing.F) {
	for _, glob := range []string{"testdata/*.x", "internal/sample/*.x", "../*.x"} {
		paths, err := filepath.Glob(glob)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(src))
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		out, err := compile("x.x", src)
		var at *srcError
		switch {
		case errors.As(err, &at):
		case err != nil && !strings.Contains(src, "%"):
			t.Fatal(err)
		case err == nil:
			if _, err := goparser.ParseFile(gotoken.NewFileSet(), "x.go", out, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}
