//go:build !linux

package main

import "errors"

func newXFS(string, int64) error { return errors.ErrUnsupported }

func syncFS(string) error { return nil }
