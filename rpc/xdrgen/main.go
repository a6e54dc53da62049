package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	pkg := flag.String("pkg", "", "name of the Go package")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: xdrgen -pkg NAME FILE.x...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *pkg == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*pkg, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run compiles the .x files at paths, which together are one package, and writes
// beside each a .go file.
func run(pkg string, paths []string) error {
	files := make([]*file, len(paths))
	for i, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if files[i], err = parse(path, string(src)); err != nil {
			return err
		}
	}
	s, err := resolve(files)
	if err != nil {
		return err
	}
	for _, f := range files {
		src, err := generate(s, f, pkg)
		if err != nil {
			return err
		}
		if err := os.WriteFile(output(f.name), src, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// output returns the path of the Go file for a .x file.
func output(path string) string {
	dir, base := filepath.Split(path)
	return dir + "zz_" + strings.TrimSuffix(base, ".x") + ".go"
}
