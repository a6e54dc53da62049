// Command firmware is the least that an appliance embeds: a tree in memory,
// served over NFSv3 with hard bounds on memory.
package main

import (
	"log"
	"os"

	eddy "eddy.example"
	"eddy.example/vfs/memfs"
)

func main() {
	files := memfs.New(memfs.Config{})
	if err := files.WriteFile("version.txt", []byte("1.0\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	s := &eddy.Server{
		Exports:      []eddy.Export{{Path: "/", FS: files, ReadOnly: true}},
		Workers:      1,
		PoolBytes:    2 << 20,
		ReceiveBytes: 2 << 20,
		ReplyBytes:   4 << 20,
		MaxConns:     32,
	}
	if len(os.Args) > 1 {
		s.Addr = os.Args[1]
	}
	log.Fatal(s.ListenAndServe())
}
