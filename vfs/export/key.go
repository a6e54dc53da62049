package export

import (
	"crypto/rand"
	"fmt"
	"io"
)

// Key is the secret that handles are authenticated with. Whoever has it can
// name any object of every export. Any 16 random bytes will do; keeping them
// lets handles survive a restart.
type Key [16]byte

// NewKey returns a random key.
func NewKey() (k Key) {
	rand.Read(k[:])
	return k
}

// Format hides the key from logs, whatever the verb.
func (Key) Format(f fmt.State, _ rune) { io.WriteString(f, "export.Key(secret)") }
