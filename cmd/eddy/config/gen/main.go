// Command gen writes the reference of all settings to the file it is given.
package main

import (
	"bytes"
	"log"
	"os"

	"eddy.example/cmd/eddy/config"
)

func main() {
	var b bytes.Buffer
	if err := config.WriteReference(&b); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
