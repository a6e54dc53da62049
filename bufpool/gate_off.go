//go:build ungated

package bufpool

// Gated is false: a run is lent again as soon as its owner has put it.
const Gated = false
