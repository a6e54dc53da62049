package client

import "context"

// tree is where cp copies from or to: files of this machine or of a server.
// Errors are for the user.
type tree interface {
	// list calls each for all that is in a directory.
	list(ctx context.Context, dir *node, each func(*node) error) error
	readlink(ctx context.Context, n *node) (string, error)
	open(ctx context.Context, n *node) (source, error)

	// look finds an entry of a directory, nil if there is none.
	look(ctx context.Context, dir *node, name string) (*node, error)
	// create makes an empty file; old, if not nil, is what there is of this name.
	create(ctx context.Context, dir *node, name string, mode uint32, old *node) (*node, sink, error)
	mkdir(ctx context.Context, dir *node, name string, mode uint32) (*node, error)
	symlink(ctx context.Context, dir *node, name, text string) error
	// keep gives n the mode and the times of like.
	keep(ctx context.Context, n, like *node) error

	nameOf(n *node) string // for messages
	close()
}

// remoteTree is a tree on a server.
type remoteTree struct{ r *remote }
