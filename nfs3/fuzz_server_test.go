package nfs3

import (
	"errors"
	"testing"

	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
	"eddy.example/vfs/memfs"
)

// fuzzServer returns a target that calls a procedure of a server, the data's
// first byte, with arguments that begin with a good handle, which the second
// selects, and go on with the rest. The answer is a status that the procedure
// has, or that the arguments are none.
func fuzzServer(t testing.TB) func(t *testing.T, data []byte) {
	w := serve(t, memExport(memfs.New(memfs.Config{RootMode: 0o777, Bytes: 1 << 20})))
	c := w.client(&root)
	f := newFixture(c, "dir")
	handles := [][]byte{mustMount(c, "/"), f.dir, f.file, f.link, f.sub}
	return func(t *testing.T, data []byte) {
		if len(data) < 2 {
			return
		}
		proc := NFSPROC3_GETATTR + uint32(data[0])%NFSPROC3_COMMIT
		args := xdr.AppendOpaque(nil, handles[int(data[1])%len(handles)])
		var status statusOnly
		err := c.rpc.Call(ctx, NFS_PROGRAM, NFS_V3, proc, &root, rawXDR(append(args, data[2:]...)), &status)
		if err != nil && !errors.Is(err, rpc.ErrGarbageArgs) {
			t.Fatalf("%s: %v", NFSV3ProcName(proc), err)
		}
		if s := NFSStat3(status); !mayAnswer(proc, s) {
			t.Fatalf("%s: %v, which the procedure does not have", NFSV3ProcName(proc), s)
		}
	}
}

// statusOnly is the status at the beginning of all results.
type statusOnly NFSStat3

func (s *statusOnly) ConsumeXDR(b []byte) ([]byte, error) {
	v, b, err := xdr.ConsumeUint32(b)
	*s = statusOnly(v)
	return b, err
}
