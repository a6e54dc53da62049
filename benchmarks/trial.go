package main

import (
	"fmt"
	"slices"
	"strings"

	"eddy.example/load"
	"eddy.example/rpc"
)

// trial is a load, and the servers that get it in turn.
type trial struct {
	load.Config
	servers []spec
	user    bool // an ordinary user makes the calls, not root
	slow    bool // over a network that delays what the client sends
}

// defaultConns is the number of connections that the numbers to reach are for.
const defaultConns = 8

// manyConns are many.
const manyConns = 64

// operation is what is done with as many requests on their way on each connection.
type operation struct {
	op    load.Op
	size  int
	depth int
}

// operations are all that is measured.
var operations = []operation{
	{load.Null, 0, 16},
	{load.Getattr, 0, 16},
	{load.Lookup, 0, 16},
	{load.CreateRemove, 0, 4},
	{load.Readdirplus, 0, 1},
	{load.Read, 1 << 20, 2},
	{load.Read, 64 << 10, 4},
	{load.RandRead, 4 << 10, 16},
	{load.Write, 1 << 20, 2},
	{load.Write, 64 << 10, 4},
	{load.RandWrite, 4 << 10, 16},
}

func (o operation) trial(conns int, servers ...spec) trial {
	return trial{
		Config:  load.Config{Op: o.op, Size: o.size, Conns: conns, Depth: o.depth},
		servers: servers,
	}
}

// user is who calls in trials that are not root's: somebody with supplementary
// groups.
var user = rpc.Cred{Flavor: rpc.AUTH_SYS, UID: 1000, GID: 1000, GIDs: []uint32{1000, 1001, 1002}, Machine: []byte("load")}

// The words of a mode that say how the trial is, not the server.
const (
	wordUser = "user"
	wordSlow = "late acks"
)

// words are what is special about the trial, as they appear in the mode of a row.
func (t *trial) words() (w []string) {
	if t.user {
		w = append(w, wordUser)
	}
	if t.slow {
		w = append(w, wordSlow)
	}
	return w
}

// mode is the mode of the trial's row for a server.
func (t *trial) mode(s spec) string {
	w := t.words()
	if s.mode != "" {
		w = slices.Insert(w, 0, s.mode)
	}
	return strings.Join(w, ",")
}

func (t *trial) String() string {
	s := string(t.Op)
	if t.Op.HasPayload() {
		s += " " + sizeName(t.Size)
	}
	return strings.Join(append([]string{s, fmt.Sprintf("%d × %d", t.Conns, t.Depth)}, t.words()...), ", ")
}

func sizeName(n int) string {
	switch {
	case n == 0:
		return ""
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
