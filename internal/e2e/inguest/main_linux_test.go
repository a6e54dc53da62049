package inguest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/kernelclient"
)

// deeds are the tests that run in a guest.
var deeds = []testing.InternalTest{
	{Name: "Quota", F: quota},
	{Name: "Flusher", F: flusher},
}

// inGuest is a variable that says where this program runs.
const inGuest = "EDDY_IN_GUEST"

func TestMain(m *testing.M) {
	if os.Getenv(inGuest) != "" {
		testing.Main(func(pattern, name string) (bool, error) { return pattern == name, nil }, deeds, nil, nil)
	}
	goleak.VerifyTestMain(m)
}

// Where the programs to try are in a guest.
const (
	static  = "/usr/bin/eddy"
	withCgo = "/usr/local/bin/eddy" // as "go run" makes it where there is a C compiler
)

// run runs a deed in a guest, after what the script prepares.
func run(t *testing.T, k *kernelclient.Kernel, deed string, c kernelclient.Config, script string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if c.Files == nil {
		c.Files = make(map[string]string)
	}
	c.Files["/deeds"] = self
	c.Kernel, c.Net = k, kernelclient.User()
	c.Script = script + "\n" + inGuest + "=1 /deeds -test.v -test.run=" + deed
	var console bytes.Buffer
	c.Console = &console
	guest.Run(t, c, nil)
	if !bytes.Contains(console.Bytes(), []byte("--- PASS: "+deed+" (")) {
		t.Errorf("the guest did not run %s", deed)
	}
}

// build builds eddy with cgo or without.
func build(t *testing.T, cgo string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "eddy")
	cmd := exec.Command("go", "build", "-o", program, "eddy.example/cmd/eddy")
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building eddy with CGO_ENABLED=%s: %v\n%s", cgo, err, out)
	}
	return program
}

// find is the file of a program, which may be where only root's PATH leads.
func find(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range []string{"", "/usr/sbin/", "/sbin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			if path, err = filepath.EvalSymlinks(path); err == nil {
				return path
			}
		}
	}
	t.Fatalf("%s is not installed; .ci/run has the list of packages", name)
	return ""
}
