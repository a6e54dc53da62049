package main

import (
	"strings"
	"testing"
)

func TestFuzzStep(t *testing.T) {
	target := func(name, body string) string {
		return "package a\nimport \"testing\"\nfunc " + name + "(f *testing.F) {\n" +
			"f.Fuzz(func(t *testing.T, b []byte) {" + body + "})\n}\n"
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  tally
		says  string
	}{
		{
			name: "good and bad",
			files: map[string]string{
				"good/a_test.go": target("FuzzGood", ""),
				"bad/a_test.go":  target("FuzzBad", "t.Error(\"no input will do\")"),
				"none/a_test.go": "package a\n",
			},
			want: tally{1, 1, 0},
			says: "no input will do",
		},
		{
			name: "two in a package",
			files: map[string]string{
				"a_test.go": target("FuzzOne", ""),
				"b_test.go": strings.Replace(target("FuzzTwo", ""), "package a", "package a_test", 1),
			},
			want: tally{0, 1, 0},
			says: "FuzzOne, FuzzTwo",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			module(t, c.files)
			r := fuzz("100x")(t.Context())
			if r.tally != c.want || !strings.Contains(r.details, c.says) {
				t.Errorf("got %v\n%s", r.tally, r.details)
			}
		})
	}
}

func TestRanOutOfTime(t *testing.T) {
	for _, c := range []struct {
		out  string
		want bool
	}{
		{"fuzz: elapsed: 5s\n--- FAIL: FuzzX (5.02s)\n    context deadline exceeded\nFAIL\nexit status 1\n", true},
		{"--- FAIL: FuzzX (5.02s)\n    --- FAIL: FuzzX (0.00s)\n        context deadline exceeded\nFAIL\n", false},
		{"--- FAIL: FuzzX (5.02s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\nFAIL\n", false},
		{"ok\n", false},
	} {
		if got := ranOutOfTime(c.out); got != c.want {
			t.Errorf("%q: got %v", c.out, got)
		}
	}
}
