// Package archtest holds the project's import rules, as tests: which folder
// may know which, and what an embedder links. The rules are the tables at the
// top of house_test.go; the go command is asked what the code really does, for
// every operating system that is supported.
//
// A new folder needs a row there before anything passes.
package archtest
