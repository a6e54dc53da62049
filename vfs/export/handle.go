package export

import (
	"crypto/subtle"
	"encoding/binary"

	"eddy.example/internal/siphash"
	"eddy.example/vfs"
)

// Lengths of handles, in bytes.
const (
	MinHandle = handleHead + siphash.Size
	MaxHandle = handleHead + vfs.MaxHandle + siphash.Size
)

const (
	handleVersion = 1
	handleHead    = 8
)

// appendHandle appends the handle that names the backend's object, whose part
// of it appendPart appends, in the export id.
func appendHandle(b []byte, mac siphash.Key, id uint32, fs vfs.FS, o vfs.Object) []byte {
	start := len(b)
	b = append(b, handleVersion, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, id)
	b = fs.AppendHandle(b, o)
	n := len(b) - start - handleHead
	if n < 0 || n > vfs.MaxHandle {
		panic("export: the backend made a handle longer than vfs.MaxHandle")
	}
	b[start+1] = byte(n)
	for ; n%4 != 0; n++ {
		b = append(b, 0)
	}
	sum := mac.Sum(b[start:])
	return append(b, sum[:]...)
}

// parseHandle takes a handle apart. ok is false for all that appendHandle did
// not make with the same key.
func parseHandle(h []byte, mac siphash.Key) (id uint32, part []byte, ok bool) {
	if len(h) < MinHandle || len(h) > MaxHandle || h[0] != handleVersion {
		return 0, nil, false
	}
	signed := h[:len(h)-siphash.Size]
	sum := mac.Sum(signed)
	if subtle.ConstantTimeCompare(sum[:], h[len(signed):]) != 1 {
		return 0, nil, false
	}
	n := int(h[1])
	if handleHead+(n+3)&^3 != len(signed) {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(h[4:8]), signed[handleHead : handleHead+n], true
}
