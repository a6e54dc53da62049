// Package gate shows that a page of a reply is not used again before the kernel
// has let go of it.
//
// A server that always sends with MSG_ZEROCOPY answers many READs at once, of
// one byte to 1 MiB. Each reply says by its own content which file, offset and
// generation it is of, so that bytes of a page that was used again are found,
// and whose they are. The tests run over three networks:
//
//	tun       peer in user space; ACKs come late, one segment in 20 is lost
//	loopback  as it is
//	veth      the receiver's end has an XDP program
//
// On the first two the kernel reports that it has copied, on the last one that
// it has not; in either case only when the peer has acknowledged. Whether the
// tests could see a page that is used too early is shown by a server that was
// built with the tag ungated: TestUngatedIsCaught runs it.
//
// Other tests end connections in every way that there is, with replies on
// their way, and count that no page is left.
//
// The package needs root and Linux; without them its tests fail.
package gate
