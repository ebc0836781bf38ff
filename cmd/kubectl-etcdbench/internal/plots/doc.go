// Package plots draws the plots of a report as SVG that stands inside an HTML page. Gonum's plot package places axes,
// ticks and scales; a canvas of this package writes them with presentation attributes and classes, so that a plot is
// readable where scripts and style sheets are forbidden.
//
// It imports package text and gonum's plot package, and no package of this project that knows a run. It is pure: the
// same input always gives the same bytes. No text of a plot overlaps another one or leaves the plot, whatever the
// values and the labels are.
package plots
