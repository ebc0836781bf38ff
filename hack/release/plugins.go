package main

import (
	"os"
	"path/filepath"
	"time"
)

// archiveName is the file name of the plugin's archive for a platform.
func (r release) archiveName(p platform) string {
	extension := ".tar.gz"
	if p.os == "windows" {
		extension = ".zip"
	}
	return plugin + "_" + r.version + "_" + p.os + "_" + p.arch + extension
}

// completion is the script that kubectl calls to complete the plugin's arguments. It needs a shell, so the archives for
// Windows have none.
const completion = "kubectl_complete-etcdbench"

// writePlugins writes an archive for each platform, with the plugin, its completion and the license.
func (r release) writePlugins() error {
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join(r.root, "cmd", plugin, completion))
	if err != nil {
		return err
	}
	for _, p := range pluginPlatforms() {
		program, err := os.ReadFile(r.binaryPath(p, plugin))
		if err != nil {
			return err
		}
		files := []file{{p.program(plugin), 0o755, program}, {"LICENSE", 0o644, license}}
		if p.os != "windows" {
			files = append(files, file{completion, 0o755, script})
		}
		archive, err := archiverOf(p)(files, r.time)
		if err != nil {
			return err
		}
		if err := os.WriteFile(r.path(r.archiveName(p)), archive, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// archiverOf returns the form of archive that is usual on a platform.
func archiverOf(p platform) func([]file, time.Time) ([]byte, error) {
	if p.os == "windows" {
		return zipOf
	}
	return tarGzOf
}

// readPlugins returns the files in the plugin's archive for a platform.
func (r release) readPlugins(p platform) ([]file, error) {
	archive, err := os.ReadFile(r.path(r.archiveName(p)))
	if err != nil {
		return nil, err
	}
	if p.os == "windows" {
		return unzip(archive)
	}
	return untar(archive)
}
