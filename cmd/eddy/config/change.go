package config

import "slices"

// NeedRestart names the settings that differ and that a running server cannot
// change. Exports are not among them.
func NeedRestart(was, is *Config) []string {
	return differ(Fields(was), Fields(is), func(f Field) bool {
		return f.Group != "terms" && f.Group != "file" && f.Name != "export" && f.Name != "root" && f.Name != "log-level"
	})
}

// NeedReopen names the settings of an export that differ and that cannot be
// changed while it is served.
func NeedReopen(was, is *Export) []string {
	return differ(Fields(was), Fields(is), func(f Field) bool {
		return slices.Contains([]string{"cross-mounts", "handles", "max-open-files", "max-handles"}, f.Name)
	})
}

func differ(was, is []Field, counts func(Field) bool) (names []string) {
	for i, f := range was {
		if counts(f) && !slices.Equal(f.Texts(), is[i].Texts()) {
			names = append(names, f.Name)
		}
	}
	return names
}
