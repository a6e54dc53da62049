// Package hostile tests a whole [eddy.Server] from the outside with peers that do
// not keep the rules: they send bytes that are no calls, or half of them, read
// nothing, go away in the middle, repeat themselves, and make up handles. The backend
// behind it stops, fails and panics.
//
// What each test asks is the same: the peer gets the protocol's error or loses
// its connection, everybody else is served meanwhile, and afterwards the
// server's counters say that nothing is left of it.
package hostile
