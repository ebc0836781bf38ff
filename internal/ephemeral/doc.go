// Package ephemeral says how members are started that exist for one run, whether they are pods or processes: the arguments,
// variables and files of each store.
//
// It imports api/spec and the standard library, and starts nothing.
package ephemeral
