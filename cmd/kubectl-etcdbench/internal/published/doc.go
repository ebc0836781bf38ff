// Command published runs the suites of config/samples/published on this machine, and writes their tables beside the
// published ones: docs/published.md, and out/published.html with pictures. `make published` calls it.
//
// It runs the plugin as a user would, and imports the plugin's packages for tables and plots. It makes no claim beyond the
// numbers of both sides: a row without a result says why.
package main
