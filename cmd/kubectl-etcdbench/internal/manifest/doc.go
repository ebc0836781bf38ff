// Package manifest reads the file in which a person describes a run, and
// translates what is wrong with it into lines of that file.
//
// It imports API machinery and a YAML parser, and talks to no server. Its one
// invariant: an object that it returns holds every field of the file, so that
// nothing a person wrote is dropped in silence.
package manifest
