// Package siphash is SipHash-2-4 with a result of 128 bits (Aumasson and
// Bernstein, "SipHash: a fast short-input PRF"): a keyed checksum for short
// inputs that nobody can forge without the key. It allocates nothing.
//
//	key := siphash.NewKey(secret) // 16 random bytes
//	mac := key.Sum(message)
package siphash

import (
	"encoding/binary"
	"math/bits"
)

// Size is the length of a checksum, in bytes.
const Size = 16

// Key is a key in the form the rounds use. A Key may be used concurrently.
type Key struct {
	k0, k1 uint64
}

// NewKey takes a key of 128 bits.
func NewKey(k [16]byte) Key {
	return Key{binary.LittleEndian.Uint64(k[:8]), binary.LittleEndian.Uint64(k[8:])}
}

// Sum returns the checksum of p.
func (k Key) Sum(p []byte) (sum [Size]byte) {
	s := state{
		k.k0 ^ 0x736f6d6570736575,
		k.k1 ^ 0x646f72616e646f6d ^ 0xee, // 0xee: the variant of 128 bits
		k.k0 ^ 0x6c7967656e657261,
		k.k1 ^ 0x7465646279746573,
	}
	last := uint64(len(p)) << 56
	for ; len(p) >= 8; p = p[8:] {
		s.absorb(binary.LittleEndian.Uint64(p))
	}
	for i, b := range p {
		last |= uint64(b) << (8 * i)
	}
	s.absorb(last)

	s[2] ^= 0xee
	binary.LittleEndian.PutUint64(sum[:8], s.squeeze())
	s[1] ^= 0xdd
	binary.LittleEndian.PutUint64(sum[8:], s.squeeze())
	return sum
}

// state is v0 to v3 of the paper.
type state [4]uint64

// absorb compresses one word: 2 rounds.
func (s *state) absorb(m uint64) {
	s[3] ^= m
	s.round()
	s.round()
	s[0] ^= m
}

// squeeze finalizes: 4 rounds.
func (s *state) squeeze() uint64 {
	s.round()
	s.round()
	s.round()
	s.round()
	return s[0] ^ s[1] ^ s[2] ^ s[3]
}

func (s *state) round() {
	s[0] += s[1]
	s[1] = bits.RotateLeft64(s[1], 13) ^ s[0]
	s[0] = bits.RotateLeft64(s[0], 32)
	s[2] += s[3]
	s[3] = bits.RotateLeft64(s[3], 16) ^ s[2]
	s[0] += s[3]
	s[3] = bits.RotateLeft64(s[3], 21) ^ s[0]
	s[2] += s[1]
	s[1] = bits.RotateLeft64(s[1], 17) ^ s[2]
	s[2] = bits.RotateLeft64(s[2], 32)
}
