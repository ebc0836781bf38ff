package workload

import (
	"strconv"
	"strings"
)

// folders names keys below a prefix for each set of them. In a tree, every folder has up to parametersPerFolder keys and
// two folders, a and b, whose names repeat the path:
//
//	0/0 … 0/4    0/a/a0 … 0/a/a4    0/b/b0 … 0/b/b4    0/a/aa/aa0 …
type folders struct {
	// digits is the length of a set's number. There are this many sets, with this many keys each.
	digits     int
	sets, keys int64
	isTree     bool
}

const parametersPerFolder = 5

// appendFolder appends the folder of a set.
func (f *folders) appendFolder(dst []byte, set int64) []byte {
	return append(appendPadded(dst, set, f.digits), '/')
}

// appendKey appends the key with this number.
func (f *folders) appendKey(dst []byte, key int64) []byte {
	dst, key = f.appendFolder(dst, key/f.keys), key%f.keys
	if !f.isTree {
		return appendPadded(dst, key, digitsOf(f.keys))
	}
	var path [64]byte
	name := appendPath(path[:0], key/parametersPerFolder)
	for depth := range name {
		dst = append(append(dst, name[:depth+1]...), '/')
	}
	return append(append(dst, name...), byte('0'+key%parametersPerFolder))
}

// has reports whether appendKey could have written a name.
func (f *folders) has(name string) bool {
	number, rest, isInSet := strings.Cut(name, "/")
	set, err := strconv.ParseInt(number, 10, 64)
	if !isInSet || err != nil || set < 0 || set >= f.sets {
		return false
	}
	key := int64(0)
	if f.isTree {
		rest = rest[strings.LastIndexByte(rest, '/')+1:]
		last := strings.TrimLeft(rest, "ab")
		for _, step := range rest[:len(rest)-len(last)] {
			if key = 2*key + 1 + int64(step-'a'); key >= f.keys {
				return false
			}
		}
		key, rest = key*parametersPerFolder, last
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	key += n
	return err == nil && n >= 0 && key < f.keys && string(f.appendKey(nil, set*f.keys+key)) == name
}

// appendPath appends a letter for each step from the root to a folder. The folders below folder n are 2n+1 and 2n+2.
func appendPath(dst []byte, folder int64) []byte {
	if folder == 0 {
		return dst
	}
	return append(appendPath(dst, (folder-1)/2), 'b'-byte(folder%2))
}

// digitsOf is how many decimal digits the numbers below n need.
func digitsOf(n int64) int { return len(strconv.FormatInt(max(n-1, 0), 10)) }
