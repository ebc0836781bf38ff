package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive.
type file struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// sorted returns the files in the order of their names.
func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

// tarOf returns a tar archive, with one time and one owner for all files.
func tarOf(files []file, at time.Time) ([]byte, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, f := range sorted(files) {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.content)), ModTime: at, Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return archive.Bytes(), err
}

// tarGzOf returns a compressed tar archive. The header of gzip has neither a name nor a time.
func tarGzOf(files []file, at time.Time) ([]byte, error) {
	plain, err := tarOf(files, at)
	if err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	w := gzip.NewWriter(&archive)
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	err = w.Close()
	return archive.Bytes(), err
}

// zipOf returns a zip archive, with one time for all files.
func zipOf(files []file, at time.Time) ([]byte, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, f := range sorted(files) {
		// A time in another zone than UTC would be stored differently.
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at.UTC()}
		header.SetMode(f.mode.Perm())
		entry, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return archive.Bytes(), err
}

// untar reads the regular files of a tar archive, which may be compressed with gzip.
func untar(archive []byte) ([]file, error) {
	var plain io.Reader = bytes.NewReader(archive)
	if bytes.HasPrefix(archive, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			return nil, err
		}
		plain = unzipped
	}
	var files []file
	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files = append(files, file{path.Clean(header.Name), header.FileInfo().Mode(), content})
	}
}

// unzip reads the files of a zip archive.
func unzip(archive []byte) ([]file, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	var files []file
	for _, entry := range r.File {
		content, err := fs.ReadFile(r, entry.Name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{entry.Name, entry.Mode(), content})
	}
	return files, nil
}

// filesBelow reads all files below a folder. Their names begin with prefix, and their mode is 0644.
func filesBelow(dir, prefix string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		own, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		files = append(files, file{path.Join(prefix, filepath.ToSlash(own)), 0o644, content})
		return err
	})
	return files, err
}

// unpack writes files below a folder.
func unpack(files []file, dir string) error {
	for _, f := range files {
		target := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, f.content, f.mode.Perm()); err != nil {
			return err
		}
	}
	return nil
}

const checksumsName = "checksums.txt"

// writeChecksums writes the SHA-256 sums of all files of the release, as `sha256sum --check` reads them.
func (r release) writeChecksums() error {
	entries, err := os.ReadDir(r.output)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, entry := range entries { // in the order of their names
		sum, err := sumOf(r.path(entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s  %s\n", sum, entry.Name())
	}
	return os.WriteFile(r.path(checksumsName), []byte(lines.String()), 0o644)
}
