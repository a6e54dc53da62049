//go:build !ungated

package gate

import (
	"os/exec"
	"strings"
	"testing"

	"eddy.example/internal/e2e/serve"
)

// Whatever the network does, each reply is what the backend filled in for it.
func TestRepliesAreIdentical(t *testing.T) {
	for _, n := range networks {
		t.Run(n.name, func(t *testing.T) {
			const rounds = 3
			b := newBench(t, n, nil)
			c := b.connect()
			for range rounds {
				for _, err := range b.round(c) {
					t.Error(err)
				}
			}
			until(func() bool {
				p := serve.Pages(b.server)
				return p.InFlight+p.Detached == 0
			})

			x := b.server.Stats().Transport
			t.Logf("sends: %+v, pages: %+v", x.Sends, serve.Pages(b.server))
			// One send takes several replies along, so how many there are is not said.
			if x.Sends.ZeroCopy <= x.Sends.Copy {
				t.Errorf("%d zero-copy sends and %d that copy", x.Sends.ZeroCopy, x.Sends.Copy)
			}
			want := int64(0)
			if n.copied {
				want = x.Sends.ZeroCopy
			}
			if x.Sends.ZeroCopyCopied != want {
				t.Errorf("of %d zero-copy sends %d are reported as copied, want %d", x.Sends.ZeroCopy, x.Sends.ZeroCopyCopied, want)
			}
			if b.link.lost != nil && !b.link.lost() {
				t.Error("the network has lost nothing")
			}
			if x.GivenUp != 0 {
				t.Errorf("%d connections were given up", x.GivenUp)
			}
		})
	}
}

// Without the gate the same READs over the same networks are seen to go wrong.
func TestUngatedIsCaught(t *testing.T) {
	const test = "TestCorruptionIsSeen"
	out, err := exec.CommandContext(t.Context(), "go", "test", "-tags=ungated", "-count=1", "-v", "-run=^"+test+"$", ".").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+test) {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
