// Package zcsock is a blocking TCP socket that sends with MSG_ZEROCOPY and
// reads the kernel's notifications, and nothing else: the smallest sender with
// which a test can show what a network does to pages in flight.
//
//	c, err := zcsock.Take(conn)     // conn accepted from a listener without MPTCP
//	id, err := c.Send(page)         // page now belongs to the kernel
//	err = c.WaitFor(id)             // page is ours again
//
// Servers send through package xprt; this is for the tests of the harnesses.
// It works on Linux only.
package zcsock
