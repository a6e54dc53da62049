package guest

import (
	"bytes"
	"io"
	"strings"
)

// OnCue is what a test does when the script asks for it, by name.
type OnCue map[string]func()

// Console returns what a guest's console has to be written to. The functions are
// called by the goroutine that writes, one after the other.
func (o OnCue) Console() io.Writer { return &cues{do: o} }

type cues struct {
	do   OnCue
	line []byte // the beginning of one
}

// Write looks for lines that are a cue.
func (c *cues) Write(p []byte) (int, error) {
	c.line = append(c.line, p...)
	for {
		line, rest, whole := bytes.Cut(c.line, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		if name, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "cue: "); ok {
			if do := c.do[name]; do != nil {
				do()
			}
		}
		c.line = append(c.line[:0], rest...)
	}
}
