package guest

import (
	"slices"
	"testing"
)

func TestOnCue(t *testing.T) {
	var done []string
	note := func(s string) func() { return func() { done = append(done, s) } }
	w := OnCue{"one": note("one"), "two": note("two")}.Console()
	for _, part := range []string{"booting\ncu", "e: one\r", "\nsay cue: two\ncue: unknown\ncue: two\ncue: one"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := []string{"one", "two"}; !slices.Equal(done, want) {
		t.Errorf("done: %q, want %q", done, want)
	}
}
