package xdppass

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bpf(2) takes its arguments as a struct by address, with addresses inside;
// the module x/sys has no wrapper for it. Hence unsafe, in this file only.

// insn is the kernel's struct bpf_insn.
type insn struct {
	code      uint8
	registers uint8
	off       int16
	imm       int32
}

const (
	xdpPass   = 2  // enum xdp_action
	attachXDP = 37 // enum bpf_attach_type
)

// loadPass returns the descriptor of a loaded XDP program.
func loadPass() (int, error) {
	program := []insn{
		{code: unix.BPF_ALU64 | unix.BPF_MOV | unix.BPF_K, imm: xdpPass}, // r0 = XDP_PASS
		{code: unix.BPF_JMP | unix.BPF_EXIT},                             // return r0
	}
	license := []byte("none\x00")
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&program[0])
	pin.Pin(&license[0])
	attr := struct {
		progType, insnCount uint32
		insns, license      uint64
	}{
		progType:  unix.BPF_PROG_TYPE_XDP,
		insnCount: uint32(len(program)),
		insns:     uint64(uintptr(unsafe.Pointer(&program[0]))),
		license:   uint64(uintptr(unsafe.Pointer(&license[0]))),
	}
	return bpf(unix.BPF_PROG_LOAD, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
}

// attach returns the descriptor of a link that holds the program at the device
// with the index in the namespace of the calling thread.
func attach(prog, index int) (int, error) {
	attr := struct{ prog, index, attachType, flags uint32 }{
		prog:       uint32(prog),
		index:      uint32(index),
		attachType: attachXDP,
		flags:      unix.XDP_FLAGS_DRV_MODE,
	}
	return bpf(unix.BPF_LINK_CREATE, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
}

func bpf(cmd uintptr, attr unsafe.Pointer, size uintptr) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_BPF, cmd, uintptr(attr), size)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
