// Package sample is what xdrgen makes of sample.x, a file with every construct
// of the language. Its tests are the tests of the code that is generated.
package sample

//go:generate go run eddy.example/rpc/xdrgen -pkg sample sample.x
