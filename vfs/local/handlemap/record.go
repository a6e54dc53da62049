package handlemap

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

const (
	magic      = "eddyhmap"
	version    = 1
	headerSize = len(magic) + 4

	kindPut    = 1
	kindDelete = 2

	keySize = 8 + 8 + 4
	headLen = 4 + 1 + 1 + 2 // checksum, kind, zero, length of name
	maxName = math.MaxUint16
)

// errDamaged ends the reading of a file: what follows is not known.
var errDamaged = errors.New("damaged record")

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // made once by crc32

func recordSize(name string) int64 { return int64(headLen + 2*keySize + len(name)) }

func appendHeader(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(b, magic...), version)
}

// checkHeader returns an error that says what to do.
func checkHeader(path string, h []byte) error {
	if string(h[:len(magic)]) != magic {
		return fmt.Errorf("handlemap: %s is not a handle map: move it away", path)
	}
	if v := binary.LittleEndian.Uint32(h[len(magic):]); v != version {
		return fmt.Errorf("handlemap: %s has version %d, and this program knows %d: run the program that wrote it, "+
			"or remove the file (objects are then searched for by their handles)", path, v, version)
	}
	return nil
}

func appendPut(b []byte, k, parent Key, name string) []byte {
	at := len(b)
	b = appendHead(b, kindPut, len(name))
	b = appendKey(appendKey(b, k), parent)
	b = append(b, name...)
	return seal(b, at)
}

func appendDelete(b []byte, k Key) []byte {
	at := len(b)
	return seal(appendKey(appendHead(b, kindDelete, 0), k), at)
}

func appendHead(b []byte, kind byte, name int) []byte {
	b = append(b, 0, 0, 0, 0, kind, 0)
	return binary.LittleEndian.AppendUint16(b, uint16(name))
}

func appendKey(b []byte, k Key) []byte {
	b = binary.LittleEndian.AppendUint64(b, k.Dev)
	b = binary.LittleEndian.AppendUint64(b, k.Ino)
	return binary.LittleEndian.AppendUint32(b, k.Gen)
}

// seal fills in the checksum of the record that begins at at.
func seal(b []byte, at int) []byte {
	binary.LittleEndian.PutUint32(b[at:], crc32.Checksum(b[at+4:], castagnoli()))
	return b
}

// record is what was appended by appendPut or appendDelete.
type record struct {
	kind        byte
	key, parent Key
	name        string
}

// recordReader reads records from a file behind its header.
type recordReader struct {
	r   *bufio.Reader
	buf []byte
}

// next returns a record and its size. At the end of the file the error is io.EOF;
// errDamaged is also that of a record whose end is missing.
func (rr *recordReader) next() (rec record, size int, err error) {
	head, err := rr.r.Peek(headLen)
	switch {
	case err == io.EOF && len(head) == 0:
		return rec, 0, io.EOF
	case err == io.EOF:
		return rec, 0, errDamaged
	case err != nil:
		return rec, 0, err
	}
	rec.kind = head[4]
	name := int(binary.LittleEndian.Uint16(head[6:]))
	switch {
	case head[5] != 0:
		return rec, 0, errDamaged
	case rec.kind == kindPut:
		size = headLen + 2*keySize + name
	case rec.kind == kindDelete && name == 0:
		size = headLen + keySize
	default:
		return rec, 0, errDamaged
	}
	if cap(rr.buf) < size {
		rr.buf = make([]byte, size)
	}
	b := rr.buf[:size]
	if _, err := io.ReadFull(rr.r, b); err == io.ErrUnexpectedEOF {
		return rec, 0, errDamaged
	} else if err != nil {
		return rec, 0, err
	}
	if binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli()) {
		return rec, 0, errDamaged
	}
	rec.key = keyAt(b[headLen:])
	if rec.kind == kindPut {
		rec.parent = keyAt(b[headLen+keySize:])
		rec.name = string(b[headLen+2*keySize:])
	}
	return rec, size, nil
}

func keyAt(b []byte) Key {
	return Key{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint32(b[16:])}
}
