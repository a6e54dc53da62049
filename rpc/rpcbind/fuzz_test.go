package rpcbind

import (
	"testing"

	"eddy.example/rpc"
	"eddy.example/rpc/xdrgen/xdrtest"
)

// The first byte selects the decoder: of a golden message, of addresses, or the
// server's of the procedure that the second byte selects.
func FuzzDecode(f *testing.F) {
	list := messages()
	addresses, server := len(list), len(list)+1
	for i, m := range list {
		f.Add(m.v.AppendXDR([]byte{byte(i)}))
	}
	f.Add(append([]byte{byte(addresses)}, "192.0.2.7.8.1"...))
	f.Add(append([]byte{byte(addresses)}, appendTaddr(nil, addr("[::1]:2049"))...))
	for proc := range byte(3 * 13) {
		f.Add(list[0].v.AppendXDR([]byte{byte(server), proc}))
		f.Add(list[3].v.AppendXDR([]byte{byte(server), proc}))
	}
	client := serve(f, &Server{Entries: table})("pipe")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		data, i := data[1:], int(data[0])%(server+1)
		switch {
		case i < len(list):
			xdrtest.Decode(t, list[i].v, data)
		case i == addresses:
			if a, err := ParseUaddr(string(data)); err == nil {
				if b, err := ParseUaddr(string(AppendUaddr(nil, a))); a != b || err != nil {
					t.Errorf("%q is %v, and that %v, %v", data, a, b, err)
				}
			}
			if a, err := parseTaddr(data); err == nil {
				if b, err := parseTaddr(appendTaddr(nil, a)); a != b || err != nil {
					t.Errorf("%x is %v, and that %v, %v", data, a, b, err)
				}
			}
		case len(data) > 0:
			vers, proc := uint32(data[0])/13%3+2, uint32(data[0])%13
			var res raw
			err := client.Call(t.Context(), RPCBPROG, vers, proc, nil, raw(data[1:]), &res)
			if err != nil && err != rpc.ErrGarbageArgs && err != rpc.ErrProcUnavail {
				t.Errorf("version %d procedure %d: %v", vers, proc, err)
			}
		}
	})
}

// raw is arguments or results as they are.
type raw []byte

func (r raw) AppendXDR(b []byte) []byte { return append(b, r...) }

func (r *raw) ConsumeXDR(b []byte) ([]byte, error) {
	*r = append((*r)[:0], b...)
	return nil, nil
}
