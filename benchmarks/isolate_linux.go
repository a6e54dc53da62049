package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// recoverDir is where nfs-ganesha keeps what is to outlive it. Like runDir it is
// empty inside, and vanishes.
const recoverDir = "/var/lib/nfs"

// isolate starts this program again in namespaces of its own, and returns when
// that has ended. Those who may not have namespaces get EPERM.
func isolate(ctx context.Context) error {
	// The child gets its death signal with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), isolatedEnv+"=1")
	cmd.SysProcAttr = &unix.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWIPC,
		Pdeathsig:  unix.SIGKILL,
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { cmd.Process.Signal(os.Interrupt) })()
	return cmd.Wait()
}

// setUp furnishes the namespaces that the program has been started in.
func setUp() error {
	// Debian keeps some programs where only root's PATH leads.
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	for _, dir := range []string{runDir, recoverDir} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("mounting a tmpfs on %s: %w", dir, err)
		}
		if err := os.Mkdir(filepath.Join(dir, "ganesha"), 0o755); err != nil {
			return err
		}
	}
	return loopbackUp()
}

// loopbackUp brings the loopback device up. ACKs are not delayed there: peers that
// send a reply in several writes would wait for them.
func loopbackUp() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("finding the loopback device: %w", err)
	}
	if err := netlink.LinkSetUp(lo); err != nil {
		return fmt.Errorf("bringing up the loopback device: %w", err)
	}
	filter := &netlink.Route{LinkIndex: lo.Attrs().Index, Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL}
	routes, err := netlink.RouteListFiltered(netlink.FAMILY_V4, filter, netlink.RT_FILTER_TABLE|netlink.RT_FILTER_OIF|netlink.RT_FILTER_TYPE)
	if err != nil {
		return fmt.Errorf("listing the loopback routes: %w", err)
	}
	for _, r := range routes {
		r.QuickACK = 1
		if err := netlink.RouteReplace(&r); err != nil {
			return fmt.Errorf("setting quickack on %v: %w", r, err)
		}
	}
	return nil
}
