// Package newcomer goes the way of somebody who has just got the program: the
// commands of README.md, as an ordinary user with an empty home, in a network
// where nothing else runs; and the turns that are easily taken wrong, each of
// which has to be answered with one line that says what to do.
//
// The tests need root, for the namespace.
package newcomer
