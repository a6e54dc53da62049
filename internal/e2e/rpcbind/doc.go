// Package rpcbind has tests of program 100000 against the programs of other
// people: rpcinfo and showmount ask a server and a port mapper of ours, and
// services of ours are registered with a real rpcbind.
//
// They need root, for network namespaces.
package rpcbind
