// Package serve runs an [eddy.Server] for a test and sees to it that nothing is
// left of it afterwards:
//
//	s := &eddy.Server{Exports: exports, ZeroCopy: xprt.ZeroCopyAlways, Clock: clock}
//	serve.Start(t, s, l)
//
// Tests that are about deadlines give the server a [Clock] and move it. Those that are
// about other users run [Program] as them.
package serve
