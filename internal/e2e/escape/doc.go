// Package escape tries to get at what lies outside a directory that is served from
// vfs/local: through names, symbolic links, renames behind the server's back, mount
// points, special files, handles of other exports, and races.
//
// Each test is run against a server with the kernel's handles, one with the map of
// places, and one that is a process of an ordinary user. Outside lies a secret that
// every caller would be allowed to read if he could name it: whatever is answered,
// it is the protocol's error and not a byte of that. Where a step can be taken by
// a server that remembers nothing, the test takes it after a restart too.
//
// The tests need root: they mount, make devices, and start the user's server.
package escape
