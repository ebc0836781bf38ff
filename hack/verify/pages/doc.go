// Package pages tests in Chromium, with the build tag browser, how pages of reports look. make report-test writes the
// pages of runs, suites, searches and schedules into out/pages before, also with names that contain markup, long words
// and right-to-left text. It fails if one of these does not hold:
//
//   - A page loads nothing. Its policy (Content-Security-Policy) allows its own style sheet and script and nothing else.
//   - A page looks the same with scripts and without, and different in dark mode. With scripts, plots show the values under
//     the pointer, and zoom.
//   - No text overlaps another one or leaves its plot, at widths of 360 and 1,440 pixels, with folded parts open and
//     closed, with the fonts that plots are measured with (Liberation) and without them.
//   - At 360 pixels, nothing is wider than the window and nothing must be scrolled sideways. Letters of plots have 9 pixels.
//   - axe-core finds no serious obstacle for people with disabilities.
//
// Look at the pictures in out/pages after a change of the page: a test does not see what is ugly. The first call unpacks
// Debian's Chromium with its libraries and fonts into bin/tools (about 145 MB to download), and axe-core from npm. It
// installs nothing and needs no root.
package pages
