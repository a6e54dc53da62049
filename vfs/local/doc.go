// Package local serves a directory of a Linux host.
package local
