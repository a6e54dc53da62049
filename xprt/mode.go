package xprt

import "fmt"

var zeroCopyNames = [...]string{ZeroCopyAuto: "auto", ZeroCopyAlways: "always", ZeroCopyNever: "never"}

// String returns "auto", "always" or "never".
func (z ZeroCopy) String() string {
	if int(z) < len(zeroCopyNames) {
		return zeroCopyNames[z]
	}
	return fmt.Sprintf("ZeroCopy(%d)", z)
}

// MarshalText implements encoding.TextMarshaler.
func (z ZeroCopy) MarshalText() ([]byte, error) { return []byte(z.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler: it takes what String
// returns.
func (z *ZeroCopy) UnmarshalText(text []byte) error {
	for i, name := range zeroCopyNames {
		if string(text) == name {
			*z = ZeroCopy(i)
			return nil
		}
	}
	return fmt.Errorf("zero copy is auto, always or never, not %q", text)
}
