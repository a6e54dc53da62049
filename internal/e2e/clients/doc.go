// Package clients shows that the server works with clients that others have
// written. It has tests only:
//
//   - the kernel's: a Linux guest mounts a server of this process, and "eddy
//     serve" as its banner says; it reads and writes with records of all sizes,
//     through the page cache and past it, over a good network and a bad one;
//   - the tools of libnfs, as the banner of "eddy serve" says and on a server of
//     this process;
//   - showmount and rpcinfo, which find the server by a port mapper of the
//     test's;
//   - tshark, which reads a captured session with every procedure and has to
//     understand all of it.
//
// Each server is alone in a network namespace, where its own sockets see what
// the client's network does and where well-known ports are free. So all
// tests need root, and the Debian packages that .ci/run installs.
package clients
