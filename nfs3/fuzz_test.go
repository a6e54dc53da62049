package nfs3

import (
	"reflect"
	"testing"

	"eddy.example/rpc/xdrgen/xdrtest"
)

// fuzzTargets are what FuzzDecode feeds. New ones go to the end, so that the
// corpus keeps its meaning.
func fuzzTargets() (targets []func(t *testing.T, data []byte)) {
	for _, v := range fuzzMessages() {
		targets = append(targets, func(t *testing.T, data []byte) { xdrtest.Decode(t, v, data) })
	}
	return targets
}

// fuzzMessages returns one value of each type among the golden messages, in
// their order.
func fuzzMessages() (values []xdrtest.Value) {
	seen := map[reflect.Type]bool{}
	for _, m := range goldenMessages() {
		if typ := reflect.TypeOf(m.v); !seen[typ] {
			seen[typ] = true
			values = append(values, m.v)
		}
	}
	return values
}

// The first byte selects the decoder.
func FuzzDecode(f *testing.F) {
	index := map[reflect.Type]byte{}
	for i, v := range fuzzMessages() {
		index[reflect.TypeOf(v)] = byte(i)
	}
	for _, m := range goldenMessages() {
		f.Add(m.v.AppendXDR([]byte{index[reflect.TypeOf(m.v)]}))
	}
	targets := append(fuzzTargets(), fuzzServer(f))
	for proc := range byte(NFSPROC3_COMMIT + 1) {
		f.Add([]byte{byte(len(targets) - 1), proc, proc, 0, 0, 0, 1, 'x', 0, 0, 0})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 0 {
			targets[int(data[0])%len(targets)](t, data[1:])
		}
	})
}
