package nfs3

import "eddy.example/rpc"

// Place finds the data of a WRITE while they still arrive: args are the first
// bytes of its arguments.
func (*nfsProgram) Place(h *rpc.Header, args []byte) (at int, offset uint64, ok bool) {
	if h.Proc != NFSPROC3_WRITE {
		return 0, 0, false
	}
	var w WRITE3args
	_, data, err := w.ConsumeXDRHead(args)
	if err != nil {
		return 0, 0, false
	}
	return len(args) - len(data), w.Offset, true
}
