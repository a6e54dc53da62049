package main

import (
	"strings"

	"eddy.example/vfs/memfs"
)

const readme = `This tree lives in the memory of the eddy process that serves it.

  hello.txt      a first file to read
  docs/          a directory with a file in it
  pub/           everybody may write here

What you write stays until the process ends.
`

// welcomeTree is what "eddy serve" serves: something to look at, and a place to
// write to.
func welcomeTree() (*memfs.FS, error) {
	fs := memfs.New(memfs.Config{})
	files := map[string]string{
		"README.txt":         readme,
		"hello.txt":          "hello, world\n",
		"docs/protocols.txt": "NFS version 3, RFC 1813, with its MOUNT protocol, over TCP and UDP.\n",
		"docs/numbers.txt":   strings.Repeat("0123456789abcdef\n", 4096),
	}
	for name, text := range files {
		if err := fs.WriteFile(name, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return fs, fs.MkdirAll("pub", 0o1777)
}
