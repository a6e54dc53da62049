// Package netns gives a test network namespaces of its own: hosts on one
// machine, joined by veth pairs or by TUN and TAP devices.
//
//	server, client := netns.New(t), netns.New(t)
//	netns.Join(server, "eth0", "192.0.2.1/24", client, "eth0", "192.0.2.2/24")
//	var l net.Listener
//	err := server.Do(func() (err error) {
//		l, err = net.Listen("tcp", "192.0.2.1:2049")
//		return err
//	})
//
// A namespace lives as long as its test. What was created inside one (a
// socket, a child process, an open TUN device) stays there for life, so only
// the creation has to happen in [NS.Do]; l may be served from any goroutine.
//
// The package drives the ip command and needs root: without it a test fails.
// It works on Linux only.
package netns
