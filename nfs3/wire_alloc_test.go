//go:build !race && !invariants

package nfs3

import "testing"

// Decoding a call on the hot path allocates nothing, nor does encoding its
// result into memory that is there, nor refusing it.
func TestWireNoAllocation(t *testing.T) {
	buf := make([]byte, 0, 1<<10)
	getattr := (&GETATTR3args{Object: wireFh}).AppendXDR(nil)
	setattr := (&SETATTR3args{Object: wireFh, NewAttributes: wireSetAll}).AppendXDR(nil)
	lookup := (&LOOKUP3args{What: wireWhere}).AppendXDR(nil)
	access := (&ACCESS3args{Object: wireFh, Access: 1}).AppendXDR(nil)
	read := (&READ3args{File: wireFh, Offset: 1, Count: 2}).AppendXDR(nil)
	write := (&WRITE3args{File: wireFh, Count: 3, Data: []byte("abc")}).AppendXDR(nil)
	create := (&CREATE3args{Where: wireWhere, How: Createhow3{Mode: EXCLUSIVE}}).AppendXDR(nil)
	readdir := (&READDIRPLUS3args{Dir: wireFh}).AppendXDR(nil)
	commit := (&COMMIT3args{File: wireFh}).AppendXDR(nil)

	getattrRes := GETATTR3res{Resok: GETATTR3resok{ObjAttributes: wireAttr.Attributes}}
	writeRes := WRITE3res{Resok: WRITE3resok{FileWcc: wireWcc}}
	entry := Entryplus3{Name: wireWhere.Name, NameAttributes: wireAttr, NameHandle: wireNewFh}
	page := (&READDIRPLUS3res{Resok: READDIRPLUS3resok{Reply: Dirlistplus3{Entries: []Entryplus3{entry, entry, entry}}}}).AppendXDR(nil)
	var pageRes READDIRPLUS3res

	var err error
	for name, f := range map[string]func(){
		"GETATTR":     func() { var v GETATTR3args; _, err = v.ConsumeXDR(getattr) },
		"SETATTR":     func() { var v SETATTR3args; _, err = v.ConsumeXDR(setattr) },
		"LOOKUP":      func() { var v LOOKUP3args; _, err = v.ConsumeXDR(lookup) },
		"ACCESS":      func() { var v ACCESS3args; _, err = v.ConsumeXDR(access) },
		"READ":        func() { var v READ3args; _, err = v.ConsumeXDR(read) },
		"WRITE":       func() { var v WRITE3args; _, err = v.ConsumeXDR(write) },
		"WRITE, head": func() { var v WRITE3args; _, _, err = v.ConsumeXDRHead(write) },
		"CREATE":      func() { var v CREATE3args; _, err = v.ConsumeXDR(create) },
		"READDIRPLUS": func() { var v READDIRPLUS3args; _, err = v.ConsumeXDR(readdir) },
		"COMMIT":      func() { var v COMMIT3args; _, err = v.ConsumeXDR(commit) },

		"GETATTR result":           func() { buf = getattrRes.AppendXDR(buf[:0]) },
		"WRITE result":             func() { buf = writeRes.AppendXDR(buf[:0]) },
		"READDIRPLUS entry":        func() { buf = entry.AppendXDR(buf[:0]) },
		"READDIRPLUS result again": func() { _, err = pageRes.ConsumeXDR(page) },
	} {
		f() // the first time slices may grow
		if n := testing.AllocsPerRun(100, f); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", name, n, err)
		}
	}

	longCount := []byte{0, 0, 0, 0, 255, 255, 255, 255}
	for name, f := range map[string]func() error{
		"cut short":  func() error { var v WRITE3args; _, err := v.ConsumeXDR(write[:len(write)-1]); return err },
		"long count": func() error { var v Mountres3Ok; _, err := v.ConsumeXDR(longCount); return err },
		"bad enum":   func() error { var v Ftype3; _, err := v.ConsumeXDR([]byte{0, 0, 0, 0}); return err },
		"bad arm":    func() error { var v SetAtime; _, err := v.ConsumeXDR([]byte{0, 0, 0, 9}); return err },
	} {
		if n := testing.AllocsPerRun(100, func() { err = f() }); n != 0 || err == nil {
			t.Errorf("%s: %v allocations, %v", name, n, err)
		}
	}
}
