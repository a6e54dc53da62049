package vfstest

import (
	"unsafe"

	"eddy.example/bufpool"
)

// alignedPages returns n bytes that begin at a page boundary, with a page of
// slack in the capacity. unsafe: only an address tells where memory lies.
func alignedPages(n int) []byte {
	b := make([]byte, n+2*bufpool.PageSize)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % bufpool.PageSize)
	return b[skip : skip+n : skip+n+bufpool.PageSize]
}
