package main

import (
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	"go.uber.org/zap"

	"eddy.example/metrics"
)

// metricsServer serves metrics, health, profiles and the status page. nil does
// nothing.
type metricsServer struct {
	l       net.Listener
	http    http.Server
	log     *zap.Logger
	stopped chan struct{}
}

func newMetricsServer(d *daemon, addr string) (*metricsServer, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, listenHint(err, addr, "--metrics")
	}
	var hosts []string
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	if host, _, err := net.SplitHostPort(addr); err == nil {
		hosts = append(hosts, host)
	}
	return &metricsServer{
		l: l,
		http: http.Server{
			Handler:           metrics.Handler(metrics.New(d.server), metrics.Options{Observer: d.observer, Hosts: hosts}),
			ReadHeaderTimeout: 10 * time.Second,
			ErrorLog:          zap.NewStdLog(d.log.Logger),
		},
		log:     d.log.Logger,
		stopped: make(chan struct{}),
	}, nil
}

func (m *metricsServer) start() {
	if m == nil {
		return
	}
	go func() {
		defer close(m.stopped)
		if err := m.http.Serve(m.l); !errors.Is(err, http.ErrServerClosed) {
			m.log.Error("metrics are served no longer", zap.Error(err))
		}
	}()
}

func (m *metricsServer) close() {
	if m == nil {
		return
	}
	m.http.Close()
	m.l.Close()
}
