// Package daemon has the tests of the program eddy as people run it: built,
// started, told wrong things, signalled, reloaded, handed sockets and asked
// over its control socket. They need root.
package daemon
