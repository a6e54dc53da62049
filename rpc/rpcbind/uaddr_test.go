package rpcbind

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

func TestUaddr(t *testing.T) {
	for text, a := range map[string]string{
		"192.0.2.7.8.1":        "192.0.2.7:2049",
		"0.0.0.0.0.111":        "0.0.0.0:111",
		"::.8.1":               "[::]:2049",
		"2001:db8::7.255.255":  "[2001:db8::7]:65535",
		"::ffff:192.0.2.1.0.1": "[::ffff:192.0.2.1]:1",
	} {
		want := addr(a)
		if got, err := ParseUaddr(text); got != want || err != nil {
			t.Errorf("%s is %v, %v, want %v", text, got, err, want)
		}
		if got := string(AppendUaddr(nil, want)); got != text {
			t.Errorf("%v is %s, want %s", want, got, text)
		}
	}
	if got := string(AppendUaddr(nil, addr("[fe80::1%eth0]:2049"))); got != "fe80::1.8.1" {
		t.Errorf("with a zone: %s", got)
	}
	for _, text := range []string{
		"", ".", "..", "1.2", "192.0.2.7", "192.0.2.7.8", "192.0.2.7.8.256", "192.0.2.7.256.8", "192.0.2.7.8.", "192.0.2.7.8.-1",
		"192.0.2.7.8.1.9", "host.8.1", "/run/rpcbind.sock", "fe80::1%eth0.8.1",
	} {
		if got, err := ParseUaddr(text); err != ErrAddress {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

func drawAddr(t *rapid.T) netip.AddrPort {
	port := rapid.Uint16().Draw(t, "port")
	b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "ip")
	if rapid.Bool().Draw(t, "v4") {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b)), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b)), port)
}

func TestAddressesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAddr(t)
		if got, err := ParseUaddr(string(AppendUaddr(nil, a))); got != a || err != nil {
			t.Fatalf("%v comes back as %v, %v", a, got, err)
		}
		b := appendTaddr(nil, a)
		if got, err := parseTaddr(b); got != a || err != nil {
			t.Fatalf("%v comes back as %v, %v", a, got, err)
		}
		if _, err := parseTaddr(b[:len(b)-1]); err != ErrAddress {
			t.Fatalf("%x: %v", b[:len(b)-1], err)
		}
	})
}
