// Package limits takes away from "eddy serve DIR" what it needs, and gives it back:
// descriptors, space, the right to write, a user's quota, memory. It runs the
// program as people run it, on file systems of its own, and asks of each limit
// that the client gets the right error, that nothing that was acknowledged is lost,
// and that all is well when the limit has gone.
//
// It also counts what thousands of connections cost; EDDY_LONG=1 has 10,000 of them.
//
// The tests need root, for loop devices, quotas and control groups.
package limits
