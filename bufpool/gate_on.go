//go:build !ungated

package bufpool

// Gated tells that a run is lent again only after its last reference has gone. It
// is false with the tag ungated, for tests that must then see corruption.
const Gated = true
