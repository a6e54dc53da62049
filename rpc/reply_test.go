package rpc

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hexBytes reads words in hexadecimal, with anything behind // on a line
// ignored.
func hexBytes(t testing.TB, s string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(s) {
		line, _, _ = strings.Cut(line, "//")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestReplies holds every reply of RFC 5531 §9 against bytes written by hand.
func TestReplies(t *testing.T) {
	p := newToy()
	fail := func(err error) func(*Call) error { return func(*Call) error { return err } }
	p.add(10, Proc{}, fail(ErrSystem))
	p.add(11, Proc{}, fail(errors.New("something else")))
	p.add(12, Proc{}, fail(ErrProgUnavail))
	p.add(13, Proc{}, fail(&MismatchError{ErrProgMismatch, 7, 8}))
	p.add(14, Proc{}, fail(ErrGarbageArgs))
	p.add(15, Proc{}, fail(ErrTooWeak))
	p.add(16, Proc{}, func(c *Call) error { return nil })
	for stat := range uint32(15) {
		p.add(100+stat, Proc{}, fail(&AuthError{AuthStat(stat)}))
	}
	// Another program with the same number widens the range of a PROG_MISMATCH.
	other := newToy()
	other.low, other.high = 6, 6
	c := serve(t, new(Server), p, other).pipe()

	accepted := func(rest string) string { return "0badcafe 00000001 00000000 00000000 00000000 " + rest }
	denied := func(rest string) string { return "0badcafe 00000001 00000001 " + rest }

	call := func(rest string) string { return "0badcafe 00000000 " + rest }
	toy := func(proc, rest string) string {
		return call("00000002 20000099 00000003 " + proc + " 00000000 00000000 00000000 00000000 " + rest)
	}
	tests := []struct{ name, call, reply string }{
		{"SUCCESS", toy("00000001", "00000002 68690000"), accepted("00000000 00000002 68690000")},
		{"SUCCESS without results", toy("00000000", ""), accepted("00000000")},
		{"NULL with arguments", toy("00000000", "00000001 00000002"), accepted("00000000")},
		{"PROG_UNAVAIL", call("00000002 20000098 00000003 00000001 00000000 00000000 00000000 00000000"), accepted("00000001")},
		{"PROG_UNAVAIL of NULL", call("00000002 20000098 00000003 00000000 00000000 00000000 00000000 00000000"), accepted("00000001")},
		{"PROG_UNAVAIL by program", toy("0000000c", ""), accepted("00000001")},
		{"PROG_MISMATCH below", call("00000002 20000099 00000001 00000001 00000000 00000000 00000000 00000000"), accepted("00000002 00000002 00000006")},
		{"PROG_MISMATCH between", call("00000002 20000099 00000005 00000001 00000000 00000000 00000000 00000000"), accepted("00000002 00000002 00000006")},
		{"PROG_MISMATCH above", call("00000002 20000099 ffffffff 00000001 00000000 00000000 00000000 00000000"), accepted("00000002 00000002 00000006")},
		{"PROG_MISMATCH of NULL", call("00000002 20000099 00000001 00000000 00000000 00000000 00000000 00000000"), accepted("00000002 00000002 00000006")},
		{"PROG_MISMATCH by program", toy("0000000d", ""), accepted("00000002 00000007 00000008")},
		{"PROC_UNAVAIL", toy("ffffffff", ""), accepted("00000003")},
		{"GARBAGE_ARGS by program", toy("0000000e", ""), accepted("00000004")},
		{"GARBAGE_ARGS, header ends before the version", call(""), accepted("00000004")},
		{"GARBAGE_ARGS, header ends before the procedure", call("00000002 20000099 00000003"), accepted("00000004")},
		{"SYSTEM_ERR", toy("0000000a", ""), accepted("00000005")},
		{"SYSTEM_ERR for any error", toy("0000000b", ""), accepted("00000005")},
		{"SYSTEM_ERR without a reply", toy("00000010", ""), accepted("00000005")},
		{"RPC_MISMATCH", call("00000003 20000099 00000003 00000001 00000000 00000000 00000000 00000000"), denied("00000000 00000002 00000002")},
		{"RPC_MISMATCH, header ends", call("00000001"), denied("00000000 00000002 00000002")},
		{"AUTH_TOOWEAK by program", toy("0000000f", ""), denied("00000001 00000005")},

		{"AUTH_BADCRED, header ends", call("00000002 20000099 00000003 00000001"), denied("00000001 00000001")},
		{"AUTH_BADCRED, credential of 401 bytes", call("00000002 20000099 00000003 00000001 00000000 00000191" + strings.Repeat(" 00000000", 101+2)), denied("00000001 00000001")},
		{"AUTH_BADCRED, length beyond the record", call("00000002 20000099 00000003 00000001 00000000 fffffffc 00000000 00000000"), denied("00000001 00000001")},
		{"AUTH_NONE with a body", call("00000002 20000099 00000003 00000000 00000000 00000190" + strings.Repeat(" 00000000", 100+2)), accepted("00000000")},
		{"AUTH_BADVERF, header ends", call("00000002 20000099 00000003 00000001 00000000 00000000"), denied("00000001 00000003")},
		{"AUTH_BADVERF, verifier of 401 bytes", call("00000002 20000099 00000003 00000001 00000000 00000000 00000000 00000191" + strings.Repeat(" 00000000", 101)), denied("00000001 00000003")},
		{"AUTH_BADVERF, other flavour", call("00000002 20000099 00000003 00000001 00000000 00000000 00000006 00000000"), denied("00000001 00000003")},
		{"AUTH_SHORT", call("00000002 20000099 00000003 00000001 00000002 00000000 00000000 00000000"), denied("00000001 00000002")},
		{"AUTH_DH", call("00000002 20000099 00000003 00000001 00000003 00000000 00000000 00000000"), denied("00000001 00000002")},
		{"RPCSEC_GSS", call("00000002 20000099 00000003 00000001 00000006 00000000 00000000 00000000"), denied("00000001 00000002")},
		{"AUTH_TLS", call("00000002 20000099 00000003 00000000 00000007 00000000 00000000 00000000"), denied("00000001 00000001")},
		{"unknown flavour", call("00000002 20000099 00000003 00000000 7fffffff 00000000 00000000 00000000"), denied("00000001 00000002")},
	}
	for stat := range uint32(15) {
		tests = append(tests, struct{ name, call, reply string }{
			AuthStat(stat).String() + " by program",
			toy(hex.EncodeToString([]byte{0, 0, 0, byte(100 + stat)}), ""),
			denied("00000001 " + hex.EncodeToString([]byte{0, 0, 0, byte(stat)})),
		})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := exchange(t, c, hexBytes(t, test.call))
			if diff := cmp.Diff(hexBytes(t, test.reply), got); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
		})
	}
}
