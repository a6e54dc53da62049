package metrics

import (
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// documented are the metrics in the package's documentation, with their labels
// in order: "name{a,b}".
func documented(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\t(eddy_\w+)({[\w,]+})?`).FindAllStringSubmatch(file.Doc.Text(), -1) {
		names = append(names, m[1]+sorted(m[2]))
	}
	slices.Sort(names)
	return names
}

// sorted puts labels in order.
func sorted(labels string) string {
	if labels == "" {
		return ""
	}
	list := strings.Split(strings.Trim(labels, "{}"), ",")
	slices.Sort(list)
	return "{" + strings.Join(list, ",") + "}"
}

// TestNames gathers all metrics of a server at work: they are those of the
// documentation, with its labels, and each has a value.
func TestNames(t *testing.T) {
	o := NewObserver()
	s, c := serve(t, o)
	mount(t, c)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(o, New(s))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		labels := ""
		for _, l := range f.Metric[0].Label {
			labels += "," + l.GetName()
		}
		if labels != "" {
			labels = sorted("{" + labels[1:] + "}")
		}
		got = append(got, f.GetName()+labels)
		if counts := f.GetType().String() == "COUNTER"; counts != strings.HasSuffix(f.GetName(), "_total") {
			t.Errorf("%s is a %s", f.GetName(), f.GetType())
		}
		if f.GetHelp() == "" || !strings.HasSuffix(f.GetHelp(), ".") {
			t.Errorf("%s: help %q", f.GetName(), f.GetHelp())
		}
	}
	slices.Sort(got)
	if want := documented(t); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("metrics\n\t%s\nwant those of doc.go\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// TestValues looks at what Prometheus gets to read.
func TestValues(t *testing.T) {
	o := NewObserver()
	s, c := serve(t, o)
	client, fh := mount(t, c)
	for range 3 {
		if _, err := client.Getattr(t.Context(), fh); err != nil {
			t.Fatal(err)
		}
	}
	w := httptest.NewRecorder()
	Handler(New(s), Options{Observer: o}).ServeHTTP(w, request("/metrics"))
	if w.Code != http.StatusOK {
		t.Fatal(w.Code)
	}
	lines := strings.Split(w.Body.String(), "\n")
	for _, want := range []string{
		`eddy_serving 1`,
		`eddy_connections 1`,
		`eddy_clients 1`,
		`eddy_exports 1`,
		`eddy_records_total 4`,
		`eddy_rpc_calls_total{procedure="GETATTR",program="nfs",status="success",version="3"} 3`,
		`eddy_rpc_call_duration_seconds_count{procedure="GETATTR",program="nfs",version="3"} 3`,
		`eddy_rpc_call_duration_seconds_bucket{procedure="GETATTR",program="nfs",version="3",le="+Inf"} 3`,
		`eddy_budget_limit_bytes{budget="pools"} 8.388608e+06`,
		`eddy_pool_pages{state="lent",worker="1"} 0`,
		`eddy_export_open_files{export="/"} 1`,
		`eddy_export_pending_files{export="/"} 2`,
		`eddy_export_handle_rows{export="/"} 3`,
		`eddy_export_syncs_total{export="/"} 4`,
		`eddy_export_synced_calls_total{export="/"} 5`,
		`eddy_export_sync_errors_total{export="/"} 6`,
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %s", want)
		}
	}
	for _, prefix := range []string{"go_goroutines ", "process_open_fds "} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, prefix) }) {
			t.Errorf("no line %s", prefix)
		}
	}
	if t.Failed() {
		t.Log(w.Body)
	}
}
