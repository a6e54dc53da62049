package client

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable is a name as it may be shown on a terminal: what could move the
// cursor or worse is a question mark.
func printable(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(name[i:]); n == 1 {
				b.WriteByte('?')
				continue
			}
		}
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteByte('?')
		}
	}
	return b.String()
}

// validName reports whether a server's word for an entry can be one: it must not
// lead anywhere else.
func validName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}
