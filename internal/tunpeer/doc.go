// Package tunpeer is a TCP peer in user space, for tests that want to decide
// when a server's data is acknowledged.
//
// The server's socket is the kernel's own, in a network namespace of its own.
// The other end of the namespace's TUN device is gVisor's TCP, so that every
// segment passes through this package, which can delay, lose and withhold it:
//
//	server ── kernel TCP ── tun0 ── delay, loss ── gVisor TCP ── Conn
//	           198.51.100.1                        198.51.100.2
//
// A test dials from the peer's side and serves on the kernel's:
//
//	p := tunpeer.New(t, tunpeer.Config{AckDelay: 40 * time.Millisecond, DropOneIn: 20, Seed: 1})
//	l := p.Listen(t)
//	go serve(l)
//	c, err := p.Dial(ctx, l.Addr().String()) // a net.Conn
//
// A peer that never reads is a Conn that nobody reads, one that resets is
// [Conn.Abort], one that vanishes is [Peer.Vanish].
//
// # What it shows
//
// The tests of this package send with MSG_ZEROCOPY over it and show (Linux
// 6.18):
//
//   - The kernel reports every send, and only when the peer has acknowledged
//     its last byte. While the peer is gone, data that was sent and sent again
//     stays unreported.
//   - A TUN device copies each segment when it takes it, so every report says
//     COPIED; yet what waits in the send queue, or is sent again, is read from
//     the sender's page then. COPIED does not mean that the page was free
//     earlier.
//   - Of 32 texts of 64 KiB sent from 8 pages that are written again when send
//     returns, the peer sees 24 altered, every one whose page was used again;
//     with 1500-byte segments, 19 under delay alone and 13 to 18 without. All
//     arrive unaltered when the pages wait for the report.
//
// # Choosing a network
//
// Loss takes time, and how much depends on the machine's congestion control.
// 1 MiB at 40 ms and a loss of one in 20 takes:
//
//	MTU      bbr           reno, cubic
//	1500     0.1–0.5 s     5–9 s
//	16000    0.1–0.4 s     0.3–0.9 s
//	65000    0.1–0.2 s     0.1–0.5 s
//
// Without loss a connection makes 160 MiB/s at an MTU of 1500 and about
// 1 GiB/s at 65000; at 40 ms, 50 to 60 MiB/s (a send buffer of 4 MiB per
// round trip, net.ipv4.tcp_wmem).
//
// The package needs root, /dev/net/tun and Linux; without them a test fails.
package tunpeer
