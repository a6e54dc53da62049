package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"

	"eddy.example/load"
)

// peersCmd compares eddy with the servers that can be had.
type peersCmd struct {
	Quick bool `help:"One short round each: shows that everything works, not how fast it is."`
	JSON  bool `help:"Print the rows and ratios as JSON."`
}

// The file that is read and written, and the rounds' number and length.
const (
	fileName      = "data"
	fileBytes     = 64 << 20
	rounds        = 5
	roundTime     = 2 * time.Second
	quickTime     = 300 * time.Millisecond
	conns         = 8
	subjectServer = "eddy"
)

// peers are the servers, the subject first.
var peers = []string{subjectServer, "go-nfs"}

// cases are what is measured.
var cases = []load.Config{
	{Op: load.Null, Depth: 16},
	{Op: load.Getattr, Depth: 16},
	{Op: load.Read, Size: 1 << 20, Depth: 2},
	{Op: load.Read, Size: 64 << 10, Depth: 4},
	{Op: load.RandRead, Size: 4 << 10, Depth: 16},
	{Op: load.Write, Size: 1 << 20, Depth: 2},
	{Op: load.Write, Size: 64 << 10, Depth: 4},
}

func (p *peersCmd) Run() error {
	n, length := rounds, roundTime
	if p.Quick {
		n, length = 1, quickTime
	}
	ctx := context.Background()
	var servers []*server
	for _, name := range peers {
		s, err := startServer(name)
		if err != nil {
			return err
		}
		defer s.close()
		if err := load.Fill(ctx, s.addr, "/", fileName, fileBytes); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		servers = append(servers, s)
	}
	report := report{Machine: machine()}
	for _, c := range cases {
		c.Path, c.File, c.FileBytes = "/", fileName, fileBytes
		c.Conns, c.Duration = conns, length
		samples := make([][]row, len(servers))
		for range n {
			for i, s := range servers {
				r, err := measure(ctx, s, c)
				if err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				samples[i] = append(samples[i], r)
			}
		}
		for i := range servers {
			report.add(samples[i])
		}
		if !p.JSON {
			report.printLast(os.Stdout, len(servers))
		}
	}
	if p.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "\t")
		return e.Encode(report)
	}
	return nil
}

// measure puts a load on s and adds up what it cost there.
func measure(ctx context.Context, s *server, c load.Config) (row, error) {
	c.Addr = s.addr
	before, err := s.cpu()
	if err != nil {
		return row{}, err
	}
	r, err := load.Run(ctx, c)
	if err != nil {
		return row{}, err
	}
	after, err := s.cpu()
	if err != nil {
		return row{}, err
	}
	cpu := (after - before).Seconds()
	const mib = 1 << 20
	out := row{
		Server: s.name, Protocol: "nfs3", Op: string(c.Op), Size: c.Size, Conns: c.Conns, Depth: c.Depth,
		OpsPerSec:     float64(r.Ops) / r.Elapsed.Seconds(),
		MiBPerSec:     float64(r.Bytes) / mib / r.Elapsed.Seconds(),
		CPUPerOpMicro: cpu * 1e6 / float64(r.Ops),
		P50Micro:      float64(r.P50) / float64(time.Microsecond),
		P99Micro:      float64(r.P99) / float64(time.Microsecond),
	}
	if r.Bytes > 0 {
		out.CPUPerGiB = cpu * 1024 * mib / float64(r.Bytes)
	}
	return out, nil
}

func machine() string {
	return fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}
