// Package local shows that a directory of this host, served by vfs/local, is to a
// Linux client what a file system of its own would be. It has tests only: a guest
// mounts XFS from a loop device and
//
//   - moves 64 MiB with records of all sizes, through the page cache and past it;
//   - has names, links, special files, times and sizes, which are looked at on both
//     sides;
//   - does what is allowed and what is not, as users with and without groups under
//     each squash, and what comes of it is compared with tmpfs;
//   - clones repositories, builds a program, unpacks an archive and packs it again;
//   - sees what others change on the host.
//
// The client in the other tests is ours: it stands for another user of this host.
//
// All tests need root, and the Debian packages that .ci/run installs.
package local
