// Package manifest reads the file that describes a run and reports what is wrong with it, with the lines of that file.
//
// It imports API machinery, a YAML parser and the generated CustomResourceDefinition, and talks to no server. Its one
// invariant: an object that it returns holds every field of the file.
package manifest
