package config

// Group is a section of the settings.
type Group struct{ Key, Title string }

// Groups are the sections in their order.
func Groups() []Group {
	return []Group{
		{"file", "Configuration file"},
		{"served", "What is served, and where"},
		{"terms", "Exports, each of which may differ"},
		{"operation", "Operation"},
		{"bounds", "Bounds"},
	}
}
