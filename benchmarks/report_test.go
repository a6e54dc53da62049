package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestMedian(t *testing.T) {
	var rounds []row
	for _, ops := range []number{5, 1, 4, 2, 3} {
		rounds = append(rounds, row{Server: subject, OpsPerSec: ops, AllocsPerOp: unknown})
	}
	m := median(rounds)
	if m.OpsPerSec != 3 || m.Spread["ops_s"] != [2]number{1, 5} {
		t.Errorf("median %v of %v", m.OpsPerSec, m.Spread["ops_s"])
	}
	if m.AllocsPerOp.known() {
		t.Errorf("the median of nothing is %v", m.AllocsPerOp)
	}
	if m = median(rounds[:4]); m.OpsPerSec != 3 {
		t.Errorf("median of 1, 2, 4 and 5: %v", m.OpsPerSec)
	}
}

// rowOf is a row with so much throughput, processor time and latency.
func rowOf(server, mode string, conns int, ops, cpu, p99 number) row {
	return row{
		Server: server, Protocol: overTCP, Op: "read", Size: 1 << 20, Conns: conns, Depth: 2, Mode: mode,
		OpsPerSec: ops, CPUPerOpMicro: cpu, P50Micro: p99 / 2, P99Micro: p99,
		MiBPerSec: ops, CPUPerGiB: unknown, UserPages: unknown, KernelPages: unknown, AllocsPerOp: unknown, RSSAnonMiB: 1,
		FaultsPerPage: unknown, GCsPerGiB: unknown,
	}
}

func TestCompare(t *testing.T) {
	type verdict struct {
		Name, To, Mode string
		Value          number
		Target         float64 // 0: none
		Met            bool
	}
	smux := rowOf(subject, modePages, 8, 50, 200, 200)
	smux.Protocol = "nfs3+smux"
	for name, c := range map[string]struct {
		rows []row
		want []verdict
	}{
		"targets": {
			[]row{
				rowOf("ganesha", "", 8, 100, 100, 100), rowOf("go-nfs", "", 8, 25, 400, 100),
				rowOf(subject, modePages, 8, 110, 110, 120),
				rowOf("limit", modePages, 8, 125, 80, 90), rowOf("limit", modeMmap, 8, 200, 40, 90),
			},
			[]verdict{
				{throughput, "ganesha", modePages, 1.1, 1, true},
				{serverCPU, "ganesha", modePages, 1.1, 1.05, false},
				{p99, "ganesha", modePages, 1.2, 1.1, false},
				{throughput, "go-nfs", modePages, 4.4, 4.5, false},
				{serverCPU, "go-nfs", modePages, 0.275, 0, false},
				{p99, "go-nfs", modePages, 1.2, 0, false},
				{throughput, "limit", modePages, 0.88, 0.85, true},
			},
		},
		"only latency as a user": {
			[]row{rowOf("ganesha", "user", 8, 100, 100, 100), rowOf(subject, "pages,user", 8, 10, 100, 110)},
			[]verdict{
				{throughput, "ganesha", "pages,user", 0.1, 0, false},
				{serverCPU, "ganesha", "pages,user", 1, 0, false},
				{p99, "ganesha", "pages,user", 1.1, 1.1, true},
			},
		},
		"memory of many": {
			[]row{rowOf(subject, modePages, manyConns, 1, 1, 1)},
			[]verdict{{"rss_anon_mib", "", modePages, 1, mostRSS(), true}},
		},
		"smux": {
			[]row{rowOf(subject, modePages, 8, 100, 100, 100), smux},
			[]verdict{
				{throughput, "eddy", modePages, 0.5, leastLargeSmux, true},
				{serverCPU, "eddy", modePages, 2, 0, false},
				{p99, "eddy", modePages, 2, 0, false},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []verdict
			for _, r := range compare(c.rows) {
				v := verdict{Name: r.Name, To: r.To, Mode: r.Mode, Value: r.Value}
				if r.Target != nil {
					v.Target, v.Met = *r.Target, *r.Met
				}
				got = append(got, v)
			}
			if d := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-9)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Each goal is of an operation that is measured.
func TestGoalsAreMeasured(t *testing.T) {
	measured := make(map[string]bool)
	for _, tr := range peersTrials(false) {
		for _, s := range tr.servers {
			if tr.Conns == defaultConns {
				r := row{Op: string(tr.Op), Size: tr.Size, Mode: tr.mode(s), Protocol: overTCP, Server: s.server, Conns: 1, Depth: 1}
				measured[r.label()+r.series()] = true
			}
		}
	}
	for _, g := range goals {
		r := row{Op: string(g.op), Size: g.size, Mode: g.mode, Protocol: overTCP, Server: subject, Conns: 1, Depth: 1}
		if !measured[r.label()+r.series()] {
			t.Errorf("%s of %s is not measured", r.label(), r.series())
		}
	}
}

func testReport() *report {
	r := &report{Machine: "a machine", Rows: []row{
		median([]row{rowOf("ganesha", "", 8, 100, 100, 100)}),
		median([]row{rowOf(subject, modePages, 8, 110, 90, 90), rowOf(subject, modePages, 8, 120, 90, 90)}),
	}}
	r.Ratios = compare(r.Rows)
	return r
}

func TestJSON(t *testing.T) {
	want := testReport()
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		`"machine":"a machine"`, `"server":"eddy","protocol":"nfs3","op":"read","size":1048576,"conns":8,"depth":2,"mode":"pages"`,
		`"mib_s":115`, `"server_cpu_s_per_gib":null`, `"allocs_per_op":null`, `"ops_s":[110,120]`,
		`"name":"throughput","of":"eddy","to":"ganesha"`, `"value":1.15,"target":1,"met":true`,
	} {
		if !strings.Contains(string(b), s) {
			t.Errorf("no %s in %s", s, b)
		}
	}
	var got report
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b number) bool { return a == b || !a.known() && !b.known() })
	if d := cmp.Diff(want, &got, same); d != "" {
		t.Error(d)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	readme := filepath.Join(dir, "README.md")
	if err := os.WriteFile(readme, []byte("before\n<!-- peers -->\nold\n<!-- /peers -->\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := testReport().write("peers", dir); err != nil {
		t.Fatal(err)
	}
	text := read(t, readme)
	for _, s := range []string{
		"before\n<!-- peers -->\n![peers](results/peers.svg)\n", "\n<!-- /peers -->\nafter\n",
		"| read 1 MiB, 8 × 2 | ganesha | 100, 100..100 |", "|  | eddy pages | 115, 110..120 |",
		"3 of 3 targets are met", "| read 1 MiB, 8 × 2 | throughput | eddy pages | ganesha | 1.150 | ≥ 1 | met |",
	} {
		if !strings.Contains(text, s) {
			t.Errorf("no %q in\n%s", s, text)
		}
	}
	picture := read(t, filepath.Join(dir, "results", "peers.svg"))
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(picture, "read 1 MiB, 8 × 2") {
		t.Error("the picture does not say what it shows")
	}

	before := read(t, readme)
	if err := (&renderCmd{Files: []string{filepath.Join(dir, "results", "peers.json")}}).Run(); err != nil {
		t.Fatal(err)
	}
	if read(t, readme) != before {
		t.Error("rendered again it is different")
	}
}

func read(t *testing.T, path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b)) + "\n"
}

func TestPlotOfNothing(t *testing.T) {
	if err := new(report).writePlot(io.Discard); err != nil {
		t.Error(err)
	}
}
