// Package benchmarks runs the program benchmarks as it is run by hand, in
// namespaces of its own, for as short as it can: it shows that everything
// is measured and that nothing is left, not how fast anything is.
package benchmarks
