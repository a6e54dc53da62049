package main

import (
	"os/exec"
	"syscall"
)

// detach puts a program to be started in a process group of its own.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
