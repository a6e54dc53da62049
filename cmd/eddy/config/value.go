package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Bytes is a size in bytes: "65536", "64KiB", "4MiB", "1GiB".
type Bytes int

var units = []struct {
	name string
	size int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Bytes) UnmarshalText(text []byte) error {
	number, unit := string(text), int64(1)
	for _, u := range units {
		if n, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(n), u.size
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt/unit {
		return fmt.Errorf("wants a size such as 65536, 64KiB or 4MiB, not %q", text)
	}
	*b = Bytes(n * unit)
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (b Bytes) MarshalText() ([]byte, error) {
	for _, u := range units {
		if n := int64(b); n != 0 && n%u.size == 0 {
			return fmt.Appendf(nil, "%d%s", n/u.size, u.name), nil
		}
	}
	return strconv.AppendInt(nil, int64(b), 10), nil
}

// Duration is a time with a unit: "30s", "10m".
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("wants a time with its unit, such as 30s or 10m, not %q", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText implements encoding.TextMarshaler: "10m0s" is written "10m".
func (d Duration) MarshalText() ([]byte, error) {
	s := time.Duration(d).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return []byte(s), nil
}

// Network is a network of clients, or a single one.
type Network struct{ netip.Prefix }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *Network) UnmarshalText(text []byte) error {
	if a, err := netip.ParseAddr(string(text)); err == nil && a.Zone() == "" {
		n.Prefix = netip.PrefixFrom(a, a.BitLen())
		return nil
	}
	p, err := netip.ParsePrefix(string(text))
	if err != nil {
		return fmt.Errorf("wants networks such as 192.0.2.0/24 or 2001:db8::/32, not %q", text)
	}
	if p.Addr().Is4In6() {
		return errors.New("wants IPv4 networks in their own form, such as 192.0.2.0/24")
	}
	n.Prefix = p.Masked()
	return nil
}
