package nfs3

import (
	"testing"

	"eddy.example/rpc"
	"pgregory.net/rapid"
)

func TestPlace(t *testing.T) {
	p := (&Server{}).NFS()
	rapid.Check(t, func(t *rapid.T) {
		w := WRITE3args{
			File:   NFSFh3{rapid.SliceOfN(rapid.Byte(), 0, NFS3_FHSIZE).Draw(t, "fh")},
			Offset: rapid.Uint64().Draw(t, "offset"),
			Count:  rapid.Uint32().Draw(t, "count"),
		}
		length := rapid.Uint32().Draw(t, "length")
		head := w.AppendXDRHead(nil, length)
		arrived := rapid.IntRange(0, len(head)+64).Draw(t, "arrived")
		args := append(head, make([]byte, 64)...)[:arrived]
		at, offset, ok := p.Place(&rpc.Header{Proc: NFSPROC3_WRITE}, args)
		if ok != (arrived >= len(head)) {
			t.Fatalf("%d of %d bytes: %v", arrived, len(head), ok)
		}
		if ok && (at != len(head) || offset != w.Offset) {
			t.Fatalf("data at %d, offset %d; want %d, %d", at, offset, len(head), w.Offset)
		}
	})
	if _, _, ok := p.Place(&rpc.Header{Proc: NFSPROC3_READ}, make([]byte, 128)); ok {
		t.Error("a READ has a payload")
	}
}
