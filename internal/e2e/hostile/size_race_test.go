//go:build race

package hostile

const repeat = 1
