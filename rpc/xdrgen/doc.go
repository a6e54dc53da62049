// Xdrgen compiles .x files, the XDR and RPC language of RFC 4506 §6 and RFC 5531
// §12, to Go:
//
//	//go:generate go run eddy.example/rpc/xdrgen -pkg nfs3 nfs3.x mount.x
//
// Files named together make up one package and may use each other's names, a
// later one those of an earlier one for constants. Beside each FILE.x a
// zz_FILE.go is written, which is checked in. It uses package rpc/xdr; how its
// types behave on the wire, who owns the memory and what is refused is written
// down there.
//
// # What becomes of a definition
//
//	const N = 8;                  const N = 8
//	enum how { FAST = 1 };        type How int32, with String and Known; FAST
//	typedef unsigned int size;     type Size = uint32
//	typedef opaque fh<64>;        type Fh []byte
//	typedef opaque verf[N];       type Verf [N]byte
//	struct args { fh file; };     type Args struct { File Fh }
//	union res switch (how h)      type Res struct { H How; Ok Fh }
//	    { case FAST: fh ok;
//	      default:   void; };
//	struct node { size n;         type Node struct { N Size }
//	    node *next; };
//	typedef node *nodes;          type Nodes []Node
//	program P { version V {       const P, V, PROC_DO;
//	    res PROC_DO(args) = 1;    func VProcName(proc uint32) string
//	} = 3; } = 100003;
//
// Names become exported: type and member names lose their underscores, those of
// constants keep them. Only the member of a union that the discriminant selects
// means anything. A struct whose last member is an optional pointer to itself is
// an element of a list, and the list is a slice. Any other type that contains
// itself is refused, so the depth of decoding is known when it is compiled. A
// lone optional becomes an xdr.Optional.
//
// A struct that ends in variable-length opaque data, as READ's result and
// WRITE's arguments do, also gets AppendXDRHead and ConsumeXDRHead, for a
// payload that is sent from elsewhere or has not arrived.
//
// # Comments
//
// A comment right above a definition or member, or behind it on its line,
// becomes a Go comment; where it begins with the definition's name, that name
// is turned into the Go one. Lines that begin with % are copied to the output
// as they are, without the %, if they stand between definitions, and are
// ignored within them.
//
// Package xdrgen/xdrtest has the tests that a package with generated code needs.
package main
