package bufpool

import (
	"os"
	"testing"
	"unsafe"
)

func TestRunShape(t *testing.T) {
	p := New(Config{})
	defer closeClean(t, p)
	for size := PageSize; size <= MaxPayload; size *= 2 {
		r := p.Get(size)
		room, b := r.Room(), r.Bytes()
		if len(b) != size || cap(b) < size+PageSize {
			t.Errorf("%d bytes: len %d, cap %d", size, len(b), cap(b))
		}
		if a := uintptr(unsafe.Pointer(unsafe.SliceData(b))); a%uintptr(os.Getpagesize()) != 0 {
			t.Errorf("%d bytes: payload at %#x", size, a)
		}
		if len(room) != PageSize || cap(room) != PageSize {
			t.Errorf("%d bytes: room of %d, cap %d", size, len(room), cap(room))
		}
		if r.Pages()*PageSize != len(r.mem) {
			t.Errorf("%d bytes: %d pages of %d bytes", size, r.Pages(), len(r.mem))
		}

		copy(room[PageSize-3:], "abc")
		copy(b, "def")
		if got := string(r.Frame(3, 3)); got != "abcdef" {
			t.Errorf("%d bytes: frame %q", size, got)
		}
		if got := len(r.Frame(PageSize, size+PageSize)); got != size+2*PageSize {
			t.Errorf("%d bytes: longest frame is %d", size, got)
		}
		p.Put(r)
	}
}
