package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// resultsDir is where in the directory of a README the results are.
const resultsDir = "results"

// write writes the report as results/NAME.json, .md and .svg in a directory, and
// puts table and picture into the directory's README.md, between the comments
// "<!-- NAME -->" and "<!-- /NAME -->", if it has them.
func (r *report) write(name, dir string) error {
	results := filepath.Join(dir, resultsDir)
	if err := os.MkdirAll(results, 0o755); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	var table, picture bytes.Buffer
	r.writeTable(&table)
	if err := r.writePlot(&picture); err != nil {
		return fmt.Errorf("drawing %s: %w", name, err)
	}
	for suffix, content := range map[string][]byte{
		".json": append(data, '\n'), ".md": table.Bytes(), ".svg": picture.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(results, name+suffix), content, 0o644); err != nil {
			return err
		}
	}
	return putInto(filepath.Join(dir, "README.md"), name, fmt.Sprintf("![%s](%s/%s.svg)\n\n%s", name, resultsDir, name, table.String()))
}

// putInto replaces what is between two comments of a file.
func putInto(path, name, text string) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, found := strings.Cut(string(content), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return nil
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644)
}

// renderCmd makes tables and pictures of results again.
type renderCmd struct {
	Files []string `arg:"" type:"existingfile" help:"JSON files that --write has written."`
}

func (c *renderCmd) Run() error {
	for _, path := range c.Files {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var r report
		if err := json.Unmarshal(data, &r); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := r.write(strings.TrimSuffix(filepath.Base(path), ".json"), filepath.Dir(filepath.Dir(path))); err != nil {
			return err
		}
	}
	return nil
}
