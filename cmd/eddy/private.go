package main

import (
	"fmt"

	"eddy.example/cmd/eddy/config"
	"eddy.example/vfs/local"
)

// private is a path of the server's own, and how to name another.
type private struct{ what, path, remedy string }

// checkPrivate makes sure that no client can change what the server relies on: that
// none of it is found by way of a directory that is served. state is the state
// directory, "" for none.
func checkPrivate(c *config.Config, state string) error {
	own := []private{
		{"the file", c.File, "move it out of there"},
		{"the log file", c.LogFile, "choose another with --log-file"},
	}
	if c.Control != none {
		own = append(own, private{"the control socket", c.Control, "choose another name with --control, or none"})
	}
	if state != "" {
		remedy := "choose another directory with --state, or none"
		own = append(own, private{"the state directory", state, remedy})
		for i := range c.Exports {
			own = append(own, private{"the state directory", exportState(state, &c.Exports[i]), remedy})
		}
	}
	for _, x := range c.Exports {
		for _, p := range own {
			if p.path == "" {
				continue
			}
			inside, err := local.Contains(x.Dir, p.path)
			if err != nil {
				return fmt.Errorf("%s %s: %w", p.what, p.path, err)
			}
			if inside {
				return fmt.Errorf("%s %s is inside export %s (%s), where clients could change it: %s", p.what, p.path, x.Path, x.Dir, p.remedy)
			}
		}
	}
	return nil
}
