package limits

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// program is the eddy that is tested.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "eddy-limits-")
	if err == nil {
		program = filepath.Join(dir, "eddy")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", program, "eddy.example/cmd/eddy").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}
