// Package load drives an NFS server as hard as it can, in a closed loop.
//
// [Run] opens connections, keeps a number of requests under way on each of
// them for a while, and says how many were answered and how long that took:
//
//	r, err := load.Run(ctx, load.Config{
//		Addr: "127.0.0.1:2049", Path: "/", File: "data", FileBytes: 256 << 20,
//		Op: load.Read, Size: 1 << 20, Conns: 8, Depth: 2, Duration: 2 * time.Second,
//	})
//
// What it works on is in the root of an export: a file that [Fill] makes, and
// for listings a directory.
//
// Closed means that a request is only sent when an earlier one was answered:
// the throughput found is the most the server and this client reach together, and
// latencies are those at that throughput. The client is part of the
// measurement: where it shares processors with the server, compare servers
// under the same client rather than reading absolute numbers.
package load
