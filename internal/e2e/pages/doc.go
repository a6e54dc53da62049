// Package pages counts the pages that a server under load takes from the system.
//
// Eight clients read cached files of a server that always sends with
// MSG_ZEROCOPY, 1 MiB at a time and one after the other. Runs of pages come back
// when the peer has acknowledged them, so there is a bound on how many are ever
// needed: the tests count how many are new per page of payload, with ACKs that
// come 40 ms late and without delay, how many are held at any time, and how many
// are left when nobody has asked for 10 seconds.
//
// What is counted is the pools' own exact account, room and slack included.
//
// The package needs root and Linux; without them its tests fail. Under the race
// detector, where pages are none of the system's, nothing is counted.
package pages
