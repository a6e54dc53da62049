// Package handlemap remembers under which name an object was last seen, for file
// systems that cannot be asked to open an object by its handle.
//
//	m, err := handlemap.Open(stateDir, 1<<20)
//	m.Put(file, dir, "notes.txt")     // found in dir
//	dir, name, ok := m.Get(file)      // … also after a restart
//
// Each object has one row, its parent's [Key] and its name there, so that the
// rename of a directory touches one row, whatever lies below it. A path is put
// together by asking for the parent, and for the parent's parent.
//
// A row is a hint. Whoever follows one looks at what is found there, and searches
// if it is something else: names change behind a server's back, rows are evicted,
// and after a loss of power the newest are missing.
//
// # Bounds
//
// A Map holds a fixed number of rows. Beyond it the row goes that was not used for
// long, by the clock algorithm: approximately the least recently used one. A row
// takes about 170 bytes of memory, most of them outside the name, and 48 and the
// name in the file.
//
// # The file
//
// Changes are appended to the file "handles" in the given directory before Put and
// Delete return, so that they survive the death of the process; they survive a
// loss of power after [Map.Sync]. When more than half of the file is out of date, the
// rows are copied to a new one, in the background. A second process that opens
// the same directory is refused.
//
//	header  "eddyhmap" version(4)
//	record  crc32c(4) kind(1) 0(1) length of name(2)
//	        device(8) inode(8) generation(4)            the object
//	        device(8) inode(8) generation(4) name       put: where it is
//
// Numbers are little-endian; the checksum is of what follows it in the record. The
// last record of an object counts. What follows the first damaged record is
// ignored and overwritten, and so is all of a file whose header is zeros, as a power
// cut may leave it.
package handlemap
