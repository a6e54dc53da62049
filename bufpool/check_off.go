//go:build !invariants

package bufpool

// poolCheck and runCheck check nothing without the tag invariants.
type (
	poolCheck struct{}
	runCheck  struct{}
)

func (poolCheck) owner()       {}
func (poolCheck) adopt()       {}
func (poolCheck) leaks([]*Run) {}

func (runCheck) lend([]byte)   {}
func (runCheck) poison([]byte) {}
func (runCheck) cold()         {}
