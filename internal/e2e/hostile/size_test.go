//go:build !race

package hostile

// repeat is how often things are repeated that are repeated to be sure. The race
// detector finds on the first time what it finds, and is slow.
const repeat = 4
