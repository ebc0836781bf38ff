//go:build browser

package pages

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder has the pages, which tests of the package report write, and keeps their pictures.
const folder = "../../../out/pages"

// axeFile is axe-core, which make tools-axe-core fetches.
const axeFile = "../../../bin/tools/axe-core"

//go:embed testdata/layout.js
var layoutScript string

// axeScript returns what readers who need help cannot read or reach.
const axeScript = `(async () => {
  const result = await axe.run(document, { resultTypes: ["violations"] });
  return result.violations.filter(v => ["serious", "critical"].includes(v.impact)).map(v =>
    v.id + ": " + v.nodes.length + " times, as " + v.nodes[0].html.slice(0, 200) + " " + (v.nodes[0].any[0] || v.nodes[0].all[0] || v.nodes[0].none[0] || {}).message);
})()`

// widths are those of a telephone and of a desk.
var widths = []int64{360, 1440}

// reportPages are the pages that the tests look at, by their names.
func reportPages(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.html"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no pages, run make report-test: %v", folder, err)
	}
	pages := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pages[strings.TrimSuffix(filepath.Base(file), ".html")] = string(content)
	}
	return pages
}

// opened is a page with all details open.
func opened(page string) string { return strings.ReplaceAll(page, "<details", "<details open") }

// address of the file of a page.
func address(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(folder, name+".html"))
	if err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

// openedAddress is the address of a page that is saved with all details open.
func openedAddress(t *testing.T, name, page string) string {
	t.Helper()
	name = filepath.Join("opened", name)
	save(t, name+".html", []byte(opened(page)))
	return address(t, name)
}

// save writes a file, for people, too.
func save(t *testing.T, name string, content []byte) {
	t.Helper()
	file := filepath.Join(folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, 0o644)); err != nil {
		t.Fatal(err)
	}
}

func axe(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile(axeFile)
	if err != nil {
		t.Fatalf("axe-core is missing, run make tools-axe-core: %v", err)
	}
	return string(script)
}

// layout returns what is wrong with the layout of the page that is shown.
func (b *tab) layout(v view) (found []string) {
	b.Helper()
	b.evaluate(fmt.Sprintf("%s(%d)", strings.TrimSuffix(strings.TrimSpace(layoutScript), ";"), v.width), &found)
	return found
}

// barriers returns what axe-core calls serious.
func (b *tab) barriers(script string) (found []string) {
	b.Helper()
	b.evaluate(script+";0", nil)
	b.evaluate(axeScript, &found)
	return found
}

// complain reports what was found, with the first few of each kind.
func (b *tab) complain(v view, found []string) {
	b.Helper()
	const most = 8
	for _, f := range found[:min(len(found), most)] {
		b.Errorf("%s: %s", v, f)
	}
	if more := len(found) - most; more > 0 {
		b.Errorf("%s: and %d more", v, more)
	}
}

func (b *tab) wantNoRequests() {
	b.Helper()
	for _, url := range b.requested() {
		b.Errorf("the page requested %.200s", url)
	}
}

// Readers without the fonts that plots are measured with see pages without overlaps, with and without scripts, in both
// colour schemes, on small and wide screens. No page loads anything, and everybody can read it.
func TestPagesInChromium(t *testing.T) {
	browser, script, pages := startChromium(t, false), axe(t), reportPages(t)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, url := openTab(t, browser), address(t, name)
			for _, width := range widths {
				b.look(name, url, width)
				b.complain(view{width: width}, b.layout(view{width: width}))
				// Colours do not depend on the width.
				v := view{width: width, dark: width == widths[0]}
				b.paint(v)
				b.complain(v, b.barriers(script))
			}
			b.wantNoRequests()
		})
	}
}

// look takes pictures of a page with and without scripts, in both colour schemes. It leaves the page with scripts.
func (b *tab) look(name, url string, width int64) {
	b.Helper()
	pictures := map[view][]byte{}
	for _, noScripts := range []bool{true, false} {
		b.show(url, view{width: width, noScripts: noScripts})
		for _, dark := range []bool{false, true} {
			v := view{width: width, dark: dark, noScripts: noScripts}
			b.paint(v)
			pictures[v] = b.screenshot()
		}
	}
	for _, dark := range []bool{false, true} {
		v := view{width: width, dark: dark}
		save(b.T, fmt.Sprintf("%s-%s.png", name, v), pictures[v])
		if !bytes.Equal(pictures[v], pictures[view{width: width, dark: dark, noScripts: true}]) {
			b.Errorf("%s: the page looks different with scripts and without", v)
		}
	}
	if bytes.Equal(pictures[view{width: width}], pictures[view{width: width, dark: true}]) {
		b.Errorf("%d px: light and dark pages look the same", width)
	}
}

// Everything that is folded has the same quality, once it is open.
func TestOpenedPagesInChromium(t *testing.T) {
	browser, script, pages := startChromium(t, false), axe(t), reportPages(t)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, url := openTab(t, browser), openedAddress(t, name, pages[name])
			for _, width := range widths {
				v := view{width: width, dark: width != widths[0]}
				b.show(url, v)
				b.complain(v, b.layout(v))
				if v.dark {
					b.complain(v, b.barriers(script))
				}
				save(t, fmt.Sprintf("opened/%s-%s.png", name, v), b.screenshot())
			}
			b.wantNoRequests()
		})
	}
}

// Pages have no overlaps with the fonts that plots are measured with, either. The tests above use other fonts.
func TestFontsInChromium(t *testing.T) {
	pages := reportPages(t)
	for _, liberation := range []bool{true, false} {
		b := openTab(t, startChromium(t, liberation))
		b.show(address(t, "run"), view{width: widths[0]})
		if font := b.font(); (font == "Liberation Sans") != liberation {
			t.Errorf("found the font %q: wanted one of DejaVu unless Liberation Sans is there", font)
		}
		for _, name := range slices.Sorted(maps.Keys(pages)) {
			if v := (view{width: widths[0]}); liberation {
				b.show(openedAddress(t, name, pages[name]), v)
				b.complain(v, b.layout(v))
			}
		}
	}
}
