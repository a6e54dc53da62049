package metrics

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unsafe"

	"eddy.example"
)

func request(path string) *http.Request {
	r := httptest.NewRequest("GET", path, nil)
	r.Host = "127.0.0.1:9049"
	return r
}

// fixed is a Source that says what the test wants.
type fixed struct{ status eddy.Status }

func (f *fixed) Status() eddy.Status { return f.status }
func (f *fixed) Stats() eddy.Stats   { return f.status.Stats }

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(path))
	return w
}

func TestHealth(t *testing.T) {
	for state, code := range map[eddy.State]int{
		eddy.StateNew: 503, eddy.StateServing: 200, eddy.StateDraining: 503, eddy.StateClosed: 503,
	} {
		src := new(fixed)
		src.status.Stats.State = state
		w := get(Handler(New(src), Options{}), "/healthz")
		if w.Code != code || w.Body.String() != string(state)+"\n" {
			t.Errorf("%s: %d %q, want %d", state, w.Code, w.Body, code)
		}
	}
}

func TestHealthOfServer(t *testing.T) {
	s, c := serve(t, NewObserver())
	mount(t, c)
	h := Handler(New(s), Options{})
	if w := get(h, "/healthz"); w.Code != 200 {
		t.Errorf("serving: %d %s", w.Code, w.Body)
	}
	s.Close()
	if w := get(h, "/healthz"); w.Code != 503 {
		t.Errorf("closed: %d %s", w.Code, w.Body)
	}
}

// TestHosts refuses names that somebody else may have made point here.
func TestHosts(t *testing.T) {
	h := Handler(New(new(fixed)), Options{Hosts: []string{"nas.example"}})
	for host, ok := range map[string]bool{
		"":                       true,
		"127.0.0.1":              true,
		"127.0.0.1:9049":         true,
		"192.0.2.1:80":           true,
		"[::1]":                  true,
		"[::1]:9049":             true,
		"[fe80::1%25eth0]:80":    true,
		"localhost":              true,
		"localhost:9049":         true,
		"LOCALHOST.:9049":        true,
		"nas.example":            true,
		"NAS.example:9049":       true,
		"evil.example":           false,
		"evil.example:9049":      false,
		"127.0.0.1.evil.example": false,
		"localhost.evil.example": false,
		"nas.example.evil":       false,
		"evil.example:127.0.0.1": false,
		"[evil.example]":         false,
		"user@127.0.0.1":         false,
		"127.1":                  false,
		"2130706433":             false,
		":9049":                  false,
	} {
		for _, path := range []string{"/", "/metrics", "/healthz", "/status.json", "/debug/pprof/", "/status.js"} {
			r := request(path)
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Code != http.StatusMisdirectedRequest; got != ok {
				t.Errorf("%s of host %q: %d, want it answered: %v", path, host, w.Code, ok)
			}
		}
	}
}

func TestPaths(t *testing.T) {
	h := Handler(New(new(fixed)), Options{Observer: NewObserver()})
	for path, kind := range map[string]string{
		"/":                         "text/html",
		"/status.css":               "text/css",
		"/status.js":                "text/javascript",
		"/icon.svg":                 "image/svg+xml",
		"/status.json":              "application/json",
		"/metrics":                  "text/plain",
		"/healthz":                  "text/plain",
		"/debug/pprof/":             "text/html",
		"/debug/pprof/goroutine":    "application/octet-stream",
		"/debug/pprof/cmdline":      "text/plain",
		"/debug/pprof/heap?debug=1": "text/plain",
	} {
		w := get(h, path)
		if path != "/healthz" && w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) {
			t.Errorf("%s: %d, %s, want %s", path, w.Code, w.Header().Get("Content-Type"), kind)
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe-eval") || strings.Contains(policy, "script-src 'unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", path, w.Header())
		}
	}
	for _, path := range []string{"/index.html", "/page/", "/../doc.go", "/status", "/debug/", "/metrics/"} {
		if w := get(h, path); w.Code == 200 {
			t.Errorf("%s is answered: %s", path, w.Body)
		}
	}
	r := request("/status.json")
	r.Method = "POST"
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// TestPageLoadsNothingElse has no address in the page but its own.
func TestPageLoadsNothingElse(t *testing.T) {
	for _, name := range []string{"index.html", "status.css", "status.js"} {
		text, err := page.ReadFile("page/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"//cdn", "https:", "@import", "url(", "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", " style=", " onclick"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s has %s", name, bad)
			}
		}
	}
}

func TestReport(t *testing.T) {
	o := NewObserver()
	s, c := serve(t, o)
	mount(t, c)
	for range 3 {
		pipeTo(t, s)
	}
	decode := func(path string) (r Report) {
		w := get(Handler(New(s), Options{Observer: o}), path)
		if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	until := func(conns int) (r Report) {
		for r = decode("/status.json"); len(r.Conns) != conns && t.Context().Err() == nil; r = decode("/status.json") {
		}
		return r
	}
	r := until(4)
	if len(r.Clients) != 1 || r.Clients[0].Connections != 4 || fmt.Sprint(r.Clients[0].Mounts) != "[/]" || len(r.Procedures) != 1 || r.Procedures[0].Procedure != "MNT" {
		t.Errorf("%+v, %+v", r.Clients, r.Procedures)
	}
	for _, rows := range []int{0, 2, 100} {
		if r := decode(fmt.Sprintf("/status.json?rows=%d", rows)); len(r.Conns) != min(rows, 4) || len(r.Clients) != min(rows, 1) {
			t.Errorf("%d rows: %d connections, %d clients", rows, len(r.Conns), len(r.Clients))
		}
	}
	for _, rows := range []string{"-1", "x", ""} {
		if r := decode("/status.json?rows=" + rows); len(r.Conns) != 4 {
			t.Errorf("rows=%s: %d connections", rows, len(r.Conns))
		}
	}
}

// TestStripes is that workers share no cache line.
func TestStripes(t *testing.T) {
	if n := unsafe.Sizeof(stripe{}); n%64 != 0 {
		t.Errorf("a stripe has %d bytes", n)
	}
}
