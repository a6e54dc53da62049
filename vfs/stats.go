package vfs

// Statser is implemented by an FS that counts what it does.
type Statser interface {
	// Stats may be called by anyone at any time.
	Stats() Stats
}

// Stats are what an FS holds now and what it has done since it was opened.
type Stats struct {
	OpenFiles    int64 `json:"open_files"`    // now: descriptors kept for calls to come
	PendingFiles int64 `json:"pending_files"` // now: files with data that no sync has covered
	HandleRows   int64 `json:"handle_rows"`   // now: objects in a handle map

	Syncs       int64 `json:"syncs"`        // of files and file systems
	SyncedCalls int64 `json:"synced_calls"` // calls that these let go on: at least Syncs, if syncs are shared
	SyncErrors  int64 `json:"sync_errors"`
}
