//go:build !invariants

package bufpool

// poolCheck and runCheck do nothing without the tag invariants.
type poolCheck struct{}

func (poolCheck) owner()       {}
func (poolCheck) leaks([]*Run) {}

type runCheck struct{}

func (runCheck) lend([]byte)     {}
func (runCheck) released([]byte) {}
func (runCheck) reset()          {}
