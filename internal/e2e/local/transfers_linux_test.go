package local

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/kernelclient"
	"eddy.example/vfs/export"
)

//go:embed testdata/transfers.sh
var transfers string

func TestTransfers(t *testing.T) {
	t.Parallel()
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
		data := make([]byte, 64<<20)
		rand.NewChaCha8([32]byte{1}).Read(data)
		w := newWorld(t)
		w.write(t, "random", data)

		out := w.run(t, kernelclient.Config{Kernel: k}, transfers, w.open(t, "/", export.SquashNone))
		sum := sha256.Sum256(data)
		if got, _, _ := strings.Cut(string(out["random"]), " "); got != hex.EncodeToString(sum[:]) {
			t.Errorf("the guest has read %q", got)
		}
		for _, name := range []string{"47008-buffered", "1M-buffered", "47008-direct", "1M-direct"} {
			got, err := os.ReadFile(w.path(name))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s has not what the guest wrote: %v", name, err)
			}
		}
	})
}
