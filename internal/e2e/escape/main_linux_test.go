package escape

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if config := os.Getenv(serveEnv); config != "" {
		serveForUser(config)
		return
	}
	goleak.VerifyTestMain(m)
}
