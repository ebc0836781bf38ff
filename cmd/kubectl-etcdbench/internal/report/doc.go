// Package report makes the forms of a result that people send around: an HTML page, Markdown for a pull request, CSV, and
// JUnit for pipelines. All are projections of one document, which is also a form of its own.
//
// It imports the API, packages that judge and render results, and package plots; it has no client, clock or goroutine.
// A form has only numbers that the document has, and text of users never becomes markup.
package report
