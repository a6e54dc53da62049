package client

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// The commands are what kong makes of a command line.
func TestCommandLine(t *testing.T) {
	for _, tc := range []struct {
		line []string
		want Commands
	}{
		{[]string{"ls", "-laR", "nfs://host/"}, Commands{Ls: Ls{URL: []string{"nfs://host/"}, Long: true, All: true, Recursive: true}}},
		{[]string{"cat", "nfs://host/a", "nfs://host/b"}, Commands{Cat: Cat{URL: []string{"nfs://host/a", "nfs://host/b"}}}},
		{[]string{"cp", "-rp", "a", "b", "nfs://host/"}, Commands{Cp: Cp{Paths: []string{"a", "b", "nfs://host/"}, Recursive: true, Preserve: true}}},
		{[]string{"rm", "-r", "nfs://host/a"}, Commands{Rm: Rm{URL: []string{"nfs://host/a"}, Recursive: true}}},
		{[]string{"stat", "-f", "nfs://host/"}, Commands{Stat: Stat{URL: []string{"nfs://host/"}, Filesystem: true}}},
		{[]string{"ping", "-c", "3", "-i", "10ms", "nfs://host"}, Commands{Ping: Ping{URL: "nfs://host", Count: 3, Interval: 10e6}}},
	} {
		var got Commands
		parser, err := kong.New(&got)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(tc.line); err != nil {
			t.Errorf("%q: %v", tc.line, err)
		}
		// What belongs to other commands are their defaults.
		if tc.want.Ping.Count == 0 {
			got.Ping = Ping{}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q:\n%s", tc.line, diff)
		}
	}
	fails(t, &Cp{Paths: []string{"nfs://host/"}}, "where to")
}
