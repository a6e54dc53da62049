package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/metrics"
	"runtime/pprof"

	"eddy.example/xprt"
)

// serveCmd is a server's side of the control: it says where it listens, answers each
// line with its account, and serves until there are no more lines.
type serveCmd struct {
	Name       string `arg:"" enum:"eddy,go-nfs,limit"`
	Mode       string `help:"How replies are made."`
	Dir        string `help:"What is served."`
	Scratch    string `help:"A directory for sockets and state."`
	Network    string `default:"tcp" enum:"tcp,unix,udp,smux"`
	Addr       string `default:"127.0.0.1:0" help:"Where to listen; with unix it is in the scratch directory."`
	CPUProfile string `help:"Write a profile here."`
}

// account is what a Go server tells of itself. It counts up.
type account struct {
	NewPages  int64 `json:"new_pages"` // of 4 KiB, from the system or the heap
	Allocs    int64 `json:"allocs"`    // objects
	GCs       int64 `json:"gcs"`       // collector cycles
	poolPages func() int64
}

func (s *serveCmd) Run() error {
	if s.CPUProfile != "" {
		f, err := os.Create(s.CPUProfile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	l, pc, err := s.listen()
	if err != nil {
		return err
	}
	var a account
	ended := make(chan error, 1)
	switch s.Name {
	case "eddy":
		err = s.eddy(l, pc, &a, ended)
	case "go-nfs":
		err = s.goNFS(l, ended)
	case "limit":
		err = s.limit(l, ended)
	}
	if err != nil {
		return err
	}
	if pc != nil {
		fmt.Println(pc.LocalAddr())
	} else {
		fmt.Println(l.Addr())
	}
	go func() { ended <- a.answer() }()
	return <-ended
}

// listen listens for connections, or with UDP for datagrams.
func (s *serveCmd) listen() (l net.Listener, pc net.PacketConn, err error) {
	switch s.Network {
	case "unix":
		l, err = net.Listen("unix", filepath.Join(s.Scratch, "socket"))
	case "udp":
		pc, err = net.ListenPacket("udp", s.Addr)
	default:
		l, err = xprt.Listen(context.Background(), "tcp", s.Addr)
	}
	return l, pc, err
}

// answer writes the account for each line that is read.
func (a *account) answer() error {
	lines, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	for lines.Scan() {
		a.read()
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (a *account) read() {
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/heap/allocs:objects"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	a.NewPages = int64(samples[0].Value.Uint64() / pageSize)
	if a.poolPages != nil {
		a.NewPages += a.poolPages()
	}
	a.Allocs = int64(samples[1].Value.Uint64())
	a.GCs = int64(samples[2].Value.Uint64())
}
