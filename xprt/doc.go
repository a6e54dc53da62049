// Package xprt carries records between connections and a handler: over TCP,
// UDP, Unix sockets, pipes in memory, and whatever else is a net.Conn.
package xprt
