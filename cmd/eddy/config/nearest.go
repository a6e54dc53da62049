package config

import "strings"

// Nearest returns the name that s may have been meant for, or "" if none is
// near.
func Nearest(s string, names []string) string {
	best, distance := "", len(s)/3+2
	for _, n := range names {
		d := edits(s, n)
		if strings.HasPrefix(n, s) && len(s) > 2 {
			d = min(d, 1)
		}
		if d < distance {
			best, distance = n, d
		}
	}
	return best
}

// edits counts the insertions, removals, changes and swaps of neighbours that
// make b of a.
func edits(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
