// Package client has the commands of eddy that use a server: ls, cat, cp, rm,
// stat and ping. They speak NFS version 3 from this process, without a mount
// and without root, to any server.
//
// A file is named by a URL, as in RFC 2224 and libnfs:
//
//	nfs://HOST[:PORT]/EXPORT/PATH?uid=1000&gid=100
//
// Without a port, rpcbind at port 111 of the host is asked for those of NFS and
// MOUNT. A PORT is that of both. Options are version (3 is all there is), nfsport,
// mountport, uid and gid. What is special in URLs is written as %XX; so can any
// byte be. Where in the path the export ends is found out from the server.
//
// Commands are structs that kong fills and runs. Each connects by [connect],
// which finds ports, export and handle of the root, and works on a [remote].
// Whatever a server answers is taken for what it is: a foreigner's word. Names
// that are no names are refused, listings have to go on, replies are bounded.
package client
