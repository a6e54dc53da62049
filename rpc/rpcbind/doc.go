// Package rpcbind is the binding protocols of ONC RPC, RFC 1833: program 100000,
// which tells clients where programs listen. Version 2 is the port mapper,
// versions 3 and 4 are RPCBIND.
//
// # Server
//
// A [Server] answers from a list of [Entry]s that its owner computes for each
// call, so there is nothing to be kept up to date. It is an rpc.Program like any
// other, and belongs on the port of the programs it tells of:
//
//	calls.Register(&rpcbind.Server{Entries: services, Lists: isClient})
//
// Clients that know nothing but a host ask at port 111. Where no other program
// has taken that, a [Daemon] serves it, with program 100000 and nothing else:
//
//	d := rpcbind.NewDaemon(rpcbind.Server{Entries: services, Lists: isClient}, nil)
//	go d.ServePacket(packets111)
//	err := d.Serve(listener111)
//
// Where the system's rpcbind has it, [Register] enters the services there and
// [Unregister] takes them away again.
//
// # What is refused
//
// SET and UNSET answer false to everybody: the list is the owner's. CALLIT,
// BCAST and INDIRECT, by which a server makes calls for others, are not there:
// callers by datagrams hear nothing, as the RFC asks of a broadcast that finds
// nobody, all others PROC_UNAVAIL. GETSTAT is PROC_UNAVAIL: nothing is
// counted. A datagram's sender may be forged, so lists are sent by datagrams only to
// hosts that Server.Lists approves, and no more than 8 KiB.
//
// # Addresses
//
// A program that listens on an unspecified address is, for those who ask for
// one address, at the address where they have asked. A program on one address
// only is not told to those who could not reach it there.
//
// # Client
//
// [Dial] returns a [Client] with the procedures as methods; [GetPort] and
// [Dump] are for one question.
package rpcbind
