//go:build !race && !invariants

package xdr

import "testing"

// Errors and decoding by reference allocate nothing, whatever length the input
// claims.
func TestNoAllocation(t *testing.T) {
	wire := AppendOpaque(AppendBool(AppendUint64(AppendUint32(nil, 1), 2), true), []byte("data"))
	lie := []byte{0xff, 0xff, 0xff, 0xff}
	for name, f := range map[string]func(){
		"append": func() {
			wire = AppendOpaque(AppendBool(AppendUint64(AppendUint32(wire[:0], 1), 2), true), []byte("data"))
		},
		"consume": func() {
			_, b, _ := ConsumeUint32(wire)
			_, b, _ = ConsumeUint64(b)
			_, b, _ = ConsumeBool(b)
			_, _, _ = ConsumeOpaque(b, 4)
		},
		"4 GiB of opaque data": func() { _, _, _ = ConsumeOpaque(lie, Unbounded) },
		"4 Gi elements":        func() { _, _, _ = ConsumeSlice[uint32](lie, nil, Unbounded, 4) },
		"over the bound":       func() { _, _, _ = ConsumeOpaque(lie, 4) },
		"bad bool":             func() { _, _, _ = ConsumeBool(lie) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
