// Package crash shows that nothing is lost that a server has acknowledged, if
// the power fails.
//
// A server with vfs/local on XFS, ext4 or btrfs stands on a device that remembers
// every write and every flush (internal/blockdev). Clients work on it at random,
// each alone in a directory of its own and with names of its own in one that all
// share. Each operation has two moments on the device's clock, sent and
// acknowledged. For a power cut the device's image is made, mounted, which
// replays the journal, and compared with what it has to hold:
//
//	acknowledged at the cut or before    is there
//	sent at the cut or later             is not
//	in between                           is, or is not; a client has one such operation
//
// Data of an UNSTABLE write may be there from when it was sent, page by page, and has
// to be after its COMMIT, or at once if the reply said so.
//
// That the comparison would see a loss is shown by servers that lie: one with
// asynchronous metadata, one whose COMMIT and one whose stable WRITE does not sync.
//
// After some cuts a server starts on what is left: there the clients' old handles have
// to name what they named, perhaps after a search, and to be stale if that is not there.
// It does after each where a map finds the handles (vfs/local/handlemap), which is on
// the device that is cut, too. The map may also be on one that was not, or be the only
// thing that was cut, or end anywhere.
//
// With EDDY_LONG=1 the cuts are made at each flush instead of at some of them. The
// package needs root and Linux; without them its tests fail.
package crash
