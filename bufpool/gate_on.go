//go:build !ungated

package bufpool

// Gated is whether a run is lent again only after its last reference has gone.
// It is false with the tag ungated, for tests that must then see corruption.
const Gated = true
