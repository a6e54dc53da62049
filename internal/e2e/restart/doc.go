// Package restart shows that a Linux client gets over deaths of the server. It has
// tests only: the server is a process of its own over vfs/local, on XFS in a loop
// device, which kills itself by SIGKILL when it has been asked for something so
// many times; the test then starts another one with the same key and the same state
// directory. So it dies before a WRITE, a COMMIT, a READDIRPLUS and others while a
// guest reads, writes and lists on a hard mount, and has its working directory where
// others rename the directories above.
//
// The server runs as root, with the file system's own handles, and as a user
// without any capability, with the map of places.
//
// All tests need root, and the Debian packages that .ci/run installs.
package restart
