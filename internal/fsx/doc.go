// Package fsx checks a server's reads, writes and truncations against what they
// have to do, at random, with several clients at once:
//
//	fsx.Run(t, fsx.Config{Seed: 1, Dial: func() *nfs3.Client { … }, Dir: handle})
//
// Each client has a file of its own, of which it knows everything, and a part of
// one that all share. Parts share pages with their neighbours. After each READ the
// data, and the end of the file, are compared; after all, the whole files.
package fsx
