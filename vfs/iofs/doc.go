// Package iofs serves any fs.FS, read-only: files built into the program
// (embed.FS), an archive (zip.Reader), a tree made up by a program
// (fstest.MapFS), a directory (os.Root.FS, os.DirFS).
//
//	//go:embed site
//	var site embed.FS
//
//	fs := iofs.New(site, iofs.Config{})
//
// # What is expected
//
// Objects are known by their paths, so the tree should stay as it is. New
// files appear and changed ones are read anew when size or modification time
// show it, but a rename makes handles below it stale, and entries that come
// and go shift the positions of listings that are under way.
//
// Nothing follows a symbolic link: fs.ReadLinkFS is asked what is one, and
// clients read it themselves. os.DirFS does follow links that are put in the
// place of directories while it is served; where others can do that, serve
// os.Root.FS, which cannot be led outside.
//
// # Handles
//
// A path of up to 39 bytes is its own handle. A longer one is named by a hash
// of 128 bits; a bounded map knows the path to the hash, and what fell out of it,
// or was there before a restart, is found again: the handle has one byte
// of hash for each of the first 23 names on its way, so that a search reads
// little more than the directories on that way. One search runs at a time;
// meanwhile others are answered vfs.ErrDelay, and vfs.ErrStale only after a
// search that has read all there was to read.
//
// # Attributes
//
// Mode, size and modification time are the FileInfo's; a mode without any
// permission, as of an FS that knows none, counts as 0444, and 0555 for
// directories. Owner, group and the time of what has none come from [Config].
// Permissions are checked as on any Unix file system.
//
// # Reading
//
// Open files are kept, up to a bound, and read by io.ReaderAt, else
// by io.Seeker, else from front to back: then what was read recently is
// remembered, up to another bound, since clients ask for several pieces at
// once and not in order.
package iofs
