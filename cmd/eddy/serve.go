package main

import (
	"github.com/alecthomas/kong"

	"eddy.example/cmd/eddy/config"
)

type serveCmd struct {
	Dir string `arg:"" optional:"" help:"The directory to serve, as /."`

	config.Config
}

// Run serves until the process is told to stop.
func (s *serveCmd) Run(k *kong.Context) error {
	d, err := newDaemon(given(k, &s.Config, s.Dir))
	if err != nil {
		return err
	}
	return d.run()
}
