//go:build browser

package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	devpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromiumRoot has Chromium, its libraries and fonts as Debian's packages contain them. make tools-chromium unpacks them.
const chromiumRoot = "../../../bin/tools/chromium"

// fontSettings is a configuration of fontconfig with only the fonts in some folders, which every machine has alike. The
// included files are Debian's rules for the names of families.
const fontSettings = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
%[1]s<cachedir>%[2]s</cachedir>
<include>%[3]s/30-metric-aliases.conf</include>
<include>%[3]s/45-latin.conf</include>
<include>%[3]s/60-latin.conf</include>
</fontconfig>
`

// environment is what the browser needs to find its libraries and its fonts: those of DejaVu, and if wanted those of
// Liberation, with which plots are measured.
func environment(t *testing.T, liberation bool) []string {
	t.Helper()
	root, err := filepath.Abs(chromiumRoot)
	if err != nil {
		t.Fatal(err)
	}
	var libraries []string
	for _, pattern := range []string{"usr/lib/*-linux-gnu*", "usr/lib/*-linux-gnu*/pulseaudio", "lib/*-linux-gnu*"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		libraries = append(libraries, found...)
	}
	families, home, folders := []string{"dejavu"}, t.TempDir(), ""
	if liberation {
		families = append(families, "liberation")
	}
	for _, family := range families {
		folders += fmt.Sprintf("<dir>%s/usr/share/fonts/truetype/%s</dir>\n", root, family)
	}
	file := filepath.Join(home, "fonts.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, fontSettings, folders, home, filepath.Join(root, "usr/share/fontconfig/conf.avail")), 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{"LD_LIBRARY_PATH=" + strings.Join(libraries, ":"), "FONTCONFIG_FILE=" + file, "HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + home}
}

// chromiumPath is the browser itself: Debian's script around it reads settings of the host.
func chromiumPath(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(chromiumRoot, "usr/lib/chromium/chromium"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("found no Chromium: run make tools-chromium: %v", err)
	}
	return path
}

// startChromium starts a browser, which ends with the test.
func startChromium(t *testing.T, liberation bool) context.Context {
	t.Helper()
	profile := t.TempDir()
	allocated, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromiumPath(t)), chromedp.UserDataDir(profile), chromedp.Env(environment(t, liberation)...),
		// It opens only pages that this test has made. As root and in many containers, it has no sandbox.
		chromedp.NoSandbox, chromedp.DisableGPU,
		// A picture is of a frame in which everything is drawn. Without this flag, it lacks what scrolls if the machine is
		// busy.
		chromedp.Flag("run-all-compositor-stages-before-draw", true),
	)...)
	browser, _ := chromedp.NewContext(allocated)
	t.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			t.Errorf("closing Chromium: %v", err)
		}
		end()
		wantNoProcess(t, profile)
	})
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	return browser
}

// wantNoProcess waits until no process of a browser is left.
func wantNoProcess(t *testing.T, profile string) {
	t.Helper()
	deadline, again := time.After(20*time.Second), time.NewTicker(20*time.Millisecond)
	defer again.Stop()
	for {
		left := processesOf(t, profile)
		if len(left) == 0 {
			return
		}
		select {
		case <-deadline:
			t.Errorf("Chromium has left processes: %s", strings.Join(left, "; "))
			return
		case <-again.C:
		}
	}
}

func processesOf(t *testing.T, profile string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		// A process that has ended meanwhile has no file.
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(profile)) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return found
}

// view is how a reader looks at a page.
type view struct {
	width           int64
	dark, noScripts bool
}

func (v view) String() string {
	words := []string{fmt.Sprintf("%d", v.width), "light"}
	if v.dark {
		words[1] = "dark"
	}
	if v.noScripts {
		words = append(words, "no-scripts")
	}
	return strings.Join(words, "-")
}

// tab shows one page after the other.
type tab struct {
	*testing.T
	ctx   context.Context
	url   string
	world runtime.ExecutionContextID

	mu       sync.Mutex
	requests []string
}

// openTab opens a tab, which ends with the test.
func openTab(t *testing.T, browser context.Context) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(browser, 2*time.Minute)
	t.Cleanup(cancel)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	b := &tab{T: t, ctx: ctx}
	b.must(chromedp.Listen(ctx, b.note))
	call(b, network.Enable, network.EnableParams{})
	return b
}

// note keeps the requests that are not the one for the page.
func (b *tab) note(event any) {
	sent, isRequest := event.(*network.EventRequestWillBeSent)
	if !isRequest {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if sent.Request.URL != b.url {
		b.requests = append(b.requests, sent.Request.URL)
	}
}

// requested are the requests of all pages so far.
func (b *tab) requested() (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, b.requests = b.requests, nil
	return all
}

func (b *tab) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("Chromium: %v", err)
	}
}

func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	b.must(err)
	return result
}

// show loads a page and waits until it is loaded.
func (b *tab) show(url string, v view) {
	b.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: v.width, Height: 800, DeviceScaleFactor: 1, Mobile: v.width < 640})
	b.paint(v)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.noScripts})
	b.mu.Lock()
	b.url = url
	b.mu.Unlock()
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(url)))
	frame := cdp.FrameID(chromedp.FromContext(b.ctx).Target.TargetID)
	b.world = call(b, devpage.CreateIsolatedWorld, devpage.CreateIsolatedWorldParams{FrameID: frame, WorldName: "test"}).ExecutionContextID
}

// paint sets the colour scheme.
func (b *tab) paint(v view) {
	b.Helper()
	scheme := "light"
	if v.dark {
		scheme = "dark"
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// evaluate runs a script in a world of its own, where neither the page nor its policy can see it.
func (b *tab) evaluate(script string, into any) {
	b.Helper()
	result := call(b, runtime.Evaluate, runtime.EvaluateParams{Expression: script, ContextID: b.world, ReturnByValue: new(true), AwaitPromise: new(true)})
	if e := result.ExceptionDetails; e != nil {
		b.Fatalf("a script of the test failed: %v", e)
	}
	if into == nil {
		return
	}
	b.must(json.Unmarshal(result.Result.Value, into))
}

// screenshot is the picture of the whole page, up to a height that Chromium can draw.
func (b *tab) screenshot() []byte {
	b.Helper()
	const most = 12000
	size := call(b, devpage.GetLayoutMetrics, cdp.Empty{}).CSSContentSize
	return call(b, devpage.CaptureScreenshot, devpage.CaptureScreenshotParams{
		Format: devpage.CaptureScreenshotFormatPng, CaptureBeyondViewport: new(true),
		Clip: &devpage.Viewport{Width: size.Width, Height: min(size.Height, most), Scale: 1},
	}).Data
}

// font is the font in which the first text of a plot is drawn.
func (b *tab) font() string {
	b.Helper()
	call(b, dom.Enable, dom.EnableParams{})
	call(b, css.Enable, cdp.Empty{})
	root := call(b, dom.GetDocument, dom.GetDocumentParams{}).Root
	text := call(b, dom.QuerySelector, dom.QuerySelectorParams{NodeID: root.NodeID, Selector: "svg.plot text"})
	fonts := call(b, css.GetPlatformFontsForNode, css.GetPlatformFontsForNodeParams{NodeID: text.NodeID}).Fonts
	if len(fonts) == 0 {
		b.must(errors.New("a text has no font"))
	}
	return fonts[0].FamilyName
}
