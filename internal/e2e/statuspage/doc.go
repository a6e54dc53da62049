// Package statuspage tests the status page in a browser: Chromium without a
// window, spoken to by its DevTools protocol over a pair of pipes.
//
// The server is at work while it is looked at. What the page shows is compared
// with what was asked of the server; the test waits for the page to change, and
// moves on when it has.
package statuspage
