// Package kinetest starts kine for tests: bin/tools/kine, which `make tools-kine` builds, with its default SQLite database.
//
// It imports clientv3 and the standard library.
package kinetest
