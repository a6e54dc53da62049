package config

import (
	"bytes"
	"os"
	"testing"
)

func TestReferenceIsGenerated(t *testing.T) {
	var b bytes.Buffer
	if err := WriteReference(&b); err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, b.Bytes()) {
		t.Error("docs/configuration.md is not what the settings say: go generate ./cmd/eddy/config")
	}
}
