// Command check is the project's test command: format, vet, staticcheck,
// generated files, cross builds, and the tests in each of the ways they have
// to pass.
//
//	go run ./internal/check                     everything CI runs
//	go run ./internal/check --long              soaks too, and a minute of fuzzing per target
//	go run ./internal/check --only vet,race     some steps, by name or by a prefix such as build
//
// The steps stand in one table, in steps.go. Each prints one line; a step that
// failed shows what it had to say below its line, and the next one is run all
// the same. The last line of the output is
//
//	N passed, N failed, N skipped
//
// and counts tests one by one (a test with subtests by its subtests), fuzz
// targets, and every other step as one. The exit status is 0 only if nothing
// failed. With CI=true in the environment a skipped test counts as failed.
//
// Network namespaces and the guest kernels need root and the Debian packages
// that .ci/run lists; a step that misses a program says which package has it.
package main
