package export

import "crypto/rand"

// Key is the secret that handles are authenticated with. Whoever has it can
// name any object of every export. Any 16 random bytes will do; keeping them
// lets handles survive a restart.
type Key [16]byte

// NewKey returns a random key.
func NewKey() (k Key) {
	rand.Read(k[:])
	return k
}

// String hides the key from logs.
func (Key) String() string { return "export.Key(secret)" }

// GoString hides the key from logs.
func (Key) GoString() string { return "export.Key(secret)" }
