package metrics

import (
	"embed"
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"eddy.example"
)

//go:embed page
var page embed.FS

// Options are what a [Handler] may be told.
type Options struct {
	// Observer is the server's, for calls by procedure; nil if there is none.
	Observer *Observer

	// Hosts are names that the handler may be asked for by, without port,
	// besides localhost and all IP addresses.
	Hosts []string

	// Collectors are further ones for /metrics.
	Collectors []prometheus.Collector
}

// Report is what /status.json answers: the Status, and calls by procedure. With
// the parameter rows=N it has at most N of the clients, of the connections and
// of the calls; Stats count them all.
type Report struct {
	eddy.Status
	Procedures []ProcedureStats `json:"procedures"`
}

// Handler serves the metrics of c, its health, profiles and the status page; the
// package's documentation says where.
func Handler(c *Collector, o Options) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(c, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if o.Observer != nil {
		registry.MustRegister(o.Observer)
	}
	registry.MustRegister(o.Collectors...)

	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", c.health)
	mux.HandleFunc("GET /status.json", func(w http.ResponseWriter, r *http.Request) {
		report(w, c.src.Status(), o.Observer, r.URL.Query().Get("rows"))
	})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	for path, file := range map[string]string{
		"GET /{$}":        "page/index.html",
		"GET /status.css": "page/status.css",
		"GET /status.js":  "page/status.js",
		"GET /icon.svg":   "page/icon.svg",
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, page, file) })
	}
	return guard{mux, o.Hosts}
}

// health answers a load balancer or a supervisor.
func (c *Collector) health(w http.ResponseWriter, _ *http.Request) {
	state := c.src.Stats().State
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if state != eddy.StateServing {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	w.Write([]byte(string(state) + "\n"))
}

func report(w http.ResponseWriter, st eddy.Status, o *Observer, rows string) {
	r := Report{Status: st, Procedures: []ProcedureStats{}}
	if o != nil {
		r.Procedures = o.Procedures()
	}
	if n, err := strconv.Atoi(rows); err == nil && n >= 0 {
		r.Clients = r.Clients[:min(n, len(r.Clients))]
		r.Conns = r.Conns[:min(n, len(r.Conns))]
		r.Calls = r.Calls[:min(n, len(r.Calls))]
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(&r) // an error is that of a client who is gone
}

// guard lets in who asks for a host that is this one, and tells browsers to
// trust nothing but what comes from here.
type guard struct {
	next  http.Handler
	hosts []string
}

// policy allows the page its own script, style, icon and data.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pprofPolicy allows the index of profiles the style that it brings.
const pprofPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

func (g guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	if strings.HasPrefix(r.URL.Path, "/debug/") {
		h.Set("Content-Security-Policy", pprofPolicy)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !g.answersTo(r.Host) {
		http.Error(w, "this server is not known by that name: ask for it by its IP address or as localhost", http.StatusMisdirectedRequest)
		return
	}
	g.next.ServeHTTP(w, r)
}

// answersTo reports whether host, with or without port, means this server. A
// name that somebody else can make point here does not.
func (g guard) answersTo(host string) bool {
	if host == "" {
		return true // no browser leaves it out
	}
	if ap, err := netip.ParseAddrPort(host); err == nil {
		return ap.IsValid()
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host = host[:i]
	}
	host = strings.TrimSuffix(host, ".")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	for _, h := range g.hosts {
		if strings.EqualFold(host, h) {
			return true
		}
	}
	return false
}
