// Package namespace tests a server with vfs/local on XFS, ext4, btrfs and tmpfs, by
// the handles of each kind that it has.
//
// Eight clients make, link, rename and remove files and directories in the same few
// places at once, round after round. The end of a round is the tree as it is then;
// the round is right if there is an order of its operations, one that respects which
// were over before others began, in which every one of them has the result that it
// had, and at whose end is that tree. Objects are told apart by their handles, which so
// have to stay the same through everything: also when the server is killed
// between two rounds and another one takes over.
//
// Besides, the backend kit and the random reads and writes of internal/fsx run on
// each of the file systems.
//
// The package needs root and Linux; without them its tests fail.
package namespace
