package main

import (
	"os"

	eddy "eddy.example"
	"eddy.example/metrics"
)

// serverStatus is what GET /status answers and eddy status --json prints.
type serverStatus struct {
	eddy.Status

	Procedures []metrics.ProcedureStats `json:"procedures"`

	PID         int         `json:"pid"`
	Config      string      `json:"config"`    // the file, "" if there is none
	StateDir    string      `json:"state_dir"` // "" if nothing outlives the process
	Addrs       []string    `json:"addrs"`
	Directories []dirStatus `json:"directories"`
}

// dirStatus is what an export's directory is, in the order of Exports.
type dirStatus struct {
	Path          string `json:"path"`
	Dir           string `json:"dir"`
	FSType        string `json:"fs_type"`
	Handles       string `json:"handles"`  // "kernel" or "map"
	Identity      string `json:"identity"` // "clients" or "server"
	AsyncMetadata bool   `json:"async_metadata"`
}

func (d *daemon) status() serverStatus {
	s := serverStatus{
		Status:      d.server.Status(),
		Procedures:  d.observer.Procedures(),
		PID:         os.Getpid(),
		Config:      d.given.ConfigFile(),
		Addrs:       d.sockets.names(),
		Directories: []dirStatus{},
	}
	if d.state != nil {
		s.StateDir = d.state.dir
	}
	for _, x := range d.exports.describe() {
		s.Directories = append(s.Directories, dirStatus{
			Path:          x.Path,
			Dir:           x.Dir,
			FSType:        x.FSType,
			Handles:       x.Description.Handles.String(),
			Identity:      x.Identity.String(),
			AsyncMetadata: !x.Durable,
		})
	}
	return s
}

// names are the addresses as people write them.
func (s *sockets) names() (list []string) {
	for _, l := range s.streams {
		list = append(list, l.Addr().Network()+" "+l.Addr().String())
	}
	for _, pc := range s.packets {
		list = append(list, pc.LocalAddr().Network()+" "+pc.LocalAddr().String())
	}
	return list
}
