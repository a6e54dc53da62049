// Command benchmarks measures eddy side by side with its peers.
//
//	go run ./benchmarks list
//	go run ./benchmarks peers [--quick] [--json] [--all]
//
// Every server runs in a process of its own; the load comes from this one.
// Servers are measured in turn, round after round, so that a machine whose
// speed drifts drifts for all of them. Read the ratios; absolute numbers
// belong to the machine.
//
// For root, all of this happens in namespaces for processes, mounts and the network that go
// with the program, on XFS in a loop device whose blocks are memory: nothing of
// it is left, however the program ends. For others it happens in a temporary
// directory, and without nfs-ganesha.
//
// # How it is made
//
// A [benchmark] is a list of trials. A [trial] is a load and those who get it, each a
// [spec]; runner starts them, gives each the load in turn, and makes a [row] of the
// medians of what was counted and a [ratio] of each pair that says something.
//
//	main ──► isolate ──► runner ──► server (child: eddy, go-nfs, limit; ganesha)
//	                       │  ▲        ▲
//	                       │  └─ usage ┘ /proc, and what the child tells of itself
//	                       └──► load
package main
