// Package xdppass gives a test true zero copy without the hardware for it.
//
// Across loopback, a veth pair or a TUN device the kernel copies what was sent
// with MSG_ZEROCOPY, and says COPIED in its notification. With an XDP program
// on the receiver's end of a veth pair, the driver takes the sender's pages as
// they are and makes its own copy behind the sender's back, as a network card
// would; notifications then say that nothing was copied:
//
//	server, client := netns.New(t), netns.New(t)
//	netns.Join(server, "eth0", "192.0.2.1/24", client, "eth0", "192.0.2.2/24")
//	xdppass.Attach(t, client, "eth0")
//
// The program is two instructions, and passes every packet. Both ends of the
// pair must have an MTU of at most 3500 when it is attached; 1500 is the
// default.
//
// # What it shows
//
// The tests of this package send with MSG_ZEROCOPY from one namespace to the
// other and show (Linux 6.18): without the program all sends are reported as
// copied, with it none; texts arrive unaltered from a page that is written
// again after each notification; and a page of 1 MiB written again when send
// has returned arrives altered. A connection makes about 400 MiB/s.
//
// The package needs root and Linux 5.9; without them a test fails.
package xdppass
