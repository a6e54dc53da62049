package guest

import (
	"regexp"
	"strings"
	"testing"

	"eddy.example/internal/kernelclient"
)

// Each runs fn as a subtest for every kernel that a server is to be tried with.
func Each(t *testing.T, fn func(*testing.T, *kernelclient.Kernel)) {
	for _, suite := range kernelclient.Suites() {
		t.Run(suite, func(t *testing.T) {
			k, err := kernelclient.Fetch(t.Context(), suite)
			if err != nil {
				t.Fatal(err)
			}
			fn(t, k)
		})
	}
}

// Run runs a script, which has to succeed, in a guest whose kernel has to be content
// in the end. What the kernel says and matches usual (nil: nothing) is no complaint.
// It returns what the script left in /out.
func Run(t *testing.T, c kernelclient.Config, usual *regexp.Regexp) map[string][]byte {
	t.Helper()
	c.Script += "\ndmesg > /out/dmesg\n"
	out, err := kernelclient.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out.Files["dmesg"])) {
		expected := routine.MatchString(line) || usual != nil && usual.MatchString(line)
		if complaint.MatchString(line) && !expected {
			t.Errorf("the kernel says: %s", line)
		}
	}
	return out.Files
}

var (
	// complaint matches what a kernel says about NFS, whatever it is, and about
	// itself if it is bad.
	complaint = regexp.MustCompile(`(?i:\bnfs|\brpc\b|sunrpc|\blockd\b)|BUG:|WARNING:|Oops|Call Trace|blocked for more than`)

	// routine is what it says in any case.
	routine = regexp.MustCompile(`RPC: Registered|NFS: Registering|Key type .* registered`)
)
