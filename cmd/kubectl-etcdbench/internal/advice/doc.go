// Package advice translates the fields of a manifest that messages name into what the user of a command can set.
//
// It imports the API and the schema of its fields. A translated message names no field that the command has no way to
// set.
package advice
