package handlemap_test

import (
	"fmt"
	"os"

	"eddy.example/vfs/local/handlemap"
)

func Example() {
	state, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(state)
	root := handlemap.Key{Dev: 1, Ino: 128}
	docs := handlemap.Key{Dev: 1, Ino: 131, Gen: 7}
	file := handlemap.Key{Dev: 1, Ino: 144, Gen: 2}

	m, err := handlemap.Open(state, 1<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	m.Put(docs, root, "docs")
	m.Put(file, docs, "notes.txt")
	m.Put(docs, root, "papers") // renamed: the file's row stays
	m.Close()

	m, err = handlemap.Open(state, 1<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	dir, name, _ := m.Get(file)
	_, dirName, _ := m.Get(dir)
	fmt.Println(dirName + "/" + name)
	// Output: papers/notes.txt
}
