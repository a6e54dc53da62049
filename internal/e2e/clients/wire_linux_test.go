package clients

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	eddy "eddy.example"
	"eddy.example/internal/netns"
	"eddy.example/nfs3"
	"eddy.example/vfs/iofs"
	"eddy.example/vfs/memfs"
)

// Everything that the server says is understood by an implementation of the
// protocols that has nothing to do with it.
func TestWire(t *testing.T) {
	ns := netns.New(t)
	traffic := startCapture(t, ns)
	sent, served := make(map[call]int), make(map[call]int)
	var decode []string
	for _, network := range []string{"tcp", "udp"} {
		seen := newCalls()
		s := &eddy.Server{
			Exports: []eddy.Export{
				open("/", memfs.New(memfs.Config{RootMode: 0o777})),
				open("/archive", iofs.New(fstest.MapFS{"7 bytes/file": {}}, iofs.Config{})),
			},
			Observer: seen,
		}
		addr := start(t, ns, loopback, s)
		newSession(t, ns, network, addr).run()
		// Once the server has ended it has counted all it was asked.
		if err := s.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		for p, n := range seen.served {
			served[call{network, p}] += n
			sent[call{network, p}] += n
		}
		for p, n := range seen.refused {
			if slices.Contains(versions, procedure{p.prog, p.vers, 0}) {
				sent[call{network, p}] += n
			}
		}
		decode = append(decode, "-d", fmt.Sprintf("%s.port==%d,rpc", network, addr.Port()))
	}
	file := traffic.finish()

	tshark := func(args ...string) string {
		t.Helper()
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "tshark", append(append([]string{"-n", "-r", file}, decode...), args...)...)
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("tshark: %v\n%s", err, &stderr)
		}
		return string(out)
	}
	// What is left over of a message that makes sense shows up as "data".
	if out := tshark("-Y", "_ws.malformed || rpc && data"); out != "" {
		t.Errorf("malformed:\n%s", out)
	}
	if out := tshark("-q", "-z", "expert"); suspicious(out) {
		t.Errorf("tshark wonders about\n%s", out)
	}
	fields := []string{"-T", "fields", "-Y", "rpc.msgtyp"}
	for _, f := range messageFields {
		fields = append(fields, "-e", f)
	}
	compare(t, sent, served, tshark(fields...))
}

// call is a procedure as it is called over a network.
type call struct {
	network string
	procedure
}

// suspicious reports whether tshark's table of expert information has an error
// anywhere, or anything at all about RPC and its programs.
func suspicious(table string) bool {
	var section string
	for line := range strings.Lines(table) {
		f := strings.Fields(line) // frequency, group, protocol, summary
		switch {
		case len(f) == 2 && strings.HasPrefix(f[1], "("):
			section = f[0]
		case len(f) < 4 || f[0] == "Frequency":
		case section == "Errors":
			return true
		case f[2] == "RPC" || f[2] == "NFS" || f[2] == "MOUNT" || f[2] == "Portmap":
			return true
		}
	}
	return false
}

// messageFields are what is known of each message. A program's own field says
// that it was dissected as far as that.
var messageFields = []string{
	"frame.number", "ip.proto", "rpc.msgtyp", "rpc.procedure",
	"nfs.procedure_v3", "mount.procedure_v3", "mount.procedure_v1",
	"nfs.status3", "mount.status",
}

// versions are what is served, in the order of their fields.
var versions = []procedure{
	{prog: nfs3.NFS_PROGRAM, vers: nfs3.NFS_V3},
	{prog: nfs3.MOUNT_PROGRAM, vers: nfs3.MOUNT_V3},
	{prog: nfs3.MOUNT_PROGRAM, vers: nfs3.MOUNT_V1},
}

// compare checks that the calls that were understood are those that the server
// has got, and the results that were understood those of the calls it has served.
func compare(t *testing.T, sent, served map[call]int, messages string) {
	t.Helper()
	requests, replies := make(map[call]int), make(map[call]int)
	good, bad := make(map[call]int), make(map[call]int)
	for line := range strings.Lines(messages) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != len(messageFields) || strings.Contains(f[2], ",") {
			t.Fatalf("tshark: not one message: %q", line)
		}
		c := call{network: map[string]string{"6": "tcp", "17": "udp"}[f[1]]}
		i := slices.IndexFunc(f[4:7], func(own string) bool { return own != "" && own == f[3] })
		if i < 0 {
			continue // of a version that is not served
		}
		c.procedure = versions[i]
		if _, err := fmt.Sscan(f[3], &c.proc); err != nil {
			t.Fatal(err)
		}
		switch {
		case f[2] == "0":
			requests[c]++
		case f[7]+f[8] == "": // NULL and others without a status
			replies[c]++
		case f[7]+f[8] == "0":
			replies[c]++
			good[c]++
		default:
			replies[c]++
			bad[c]++
		}
	}
	if d := cmp.Diff(sent, requests); d != "" {
		t.Errorf("calls (-sent +understood):\n%s", d)
	}
	if d := cmp.Diff(served, replies); d != "" {
		t.Errorf("results (-served +understood):\n%s", d)
	}
	for _, network := range []string{"tcp", "udp"} {
		for proc := uint32(nfs3.NFSPROC3_NULL); proc <= nfs3.NFSPROC3_COMMIT; proc++ {
			c := call{network, procedure{nfs3.NFS_PROGRAM, nfs3.NFS_V3, proc}}
			if replies[c] == 0 || proc != nfs3.NFSPROC3_NULL && (good[c] == 0 || bad[c] == 0) {
				t.Errorf("%v: %d replies, %d with success, %d with an error", c, replies[c], good[c], bad[c])
			}
		}
		for _, vers := range []uint32{nfs3.MOUNT_V1, nfs3.MOUNT_V3} {
			for proc := uint32(nfs3.MOUNTPROC3_NULL); proc <= nfs3.MOUNTPROC3_EXPORT; proc++ {
				c := call{network, procedure{nfs3.MOUNT_PROGRAM, vers, proc}}
				if replies[c] == 0 || proc == nfs3.MOUNTPROC3_MNT && (good[c] == 0 || bad[c] == 0) {
					t.Errorf("%v: %d replies, %d with success, %d with an error", c, replies[c], good[c], bad[c])
				}
			}
		}
	}
}

func TestSuspicious(t *testing.T) {
	const head = "=============\n   Frequency      Group           Protocol  Summary\n"
	for table, want := range map[string]bool{
		"": false,
		"\nErrors (1)\n" + head + "           1  Malformed                 TCP  Malformed Packet (Exception occurred)\n": true,
		"\nWarns (2)\n" + head + "           2   Sequence                 RPC  Something odd\n":                          true,
		"\nWarns (2)\n" + head + "           2   Sequence                 TCP  Connection reset (RST)\n":                 false,
		"\nChats (9)\n" + head + "           9   Sequence                 TCP  Connection finish (FIN)\n" +
			"\nErrors (1)\n" + head + "           1  Malformed                 NFS  Malformed Packet\n": true,
	} {
		if got := suspicious(table); got != want {
			t.Errorf("got %v for\n%s", got, table)
		}
	}
}
