// Package pages tests in Chromium, with the build tag browser, how pages of reports look: layout, fonts, colours and
// accessibility. make report-test writes the pages into out/pages before.
package pages
