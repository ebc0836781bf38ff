//go:build browser

package pages

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
)

// at returns a place in the data of a plot of the page, as shares of its width and height, in the window.
func (b *tab) at(plot string, x, y float64) (place struct{ X, Y float64 }) {
	b.Helper()
	b.evaluate(fmt.Sprintf(`(() => {
		const plot = document.querySelector('svg[aria-labelledby^="%s-t"]');
		plot.scrollIntoView({ block: "center" });
		const data = plot.querySelector("svg.data"), box = plot.getBoundingClientRect(), scale = box.width / plot.viewBox.baseVal.width;
		const of = name => Number(data.getAttribute(name));
		return { X: box.left + scale * (of("x") + %g * of("width")), Y: box.top + scale * (of("y") + %g * of("height")) };
	})()`, plot, x, y), &place)
	return place
}

func (b *tab) mouse(kind input.DispatchMouseEventType, place struct{ X, Y float64 }) {
	b.Helper()
	p := input.DispatchMouseEventParams{Type: kind, X: place.X, Y: place.Y, PointerType: "mouse"}
	if kind != input.DispatchMouseEventTypeMouseMoved {
		p.Button, p.ClickCount = input.MouseButtonLeft, 1
	}
	call(b, input.DispatchMouseEvent, p)
}

func (b *tab) press(key string) {
	b.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key})
	}
}

// told is what the page says beside the pointer; empty if it says nothing.
func (b *tab) told() (text string) {
	b.Helper()
	b.evaluate(`document.querySelector(".tip:not([hidden])")?.textContent ?? ""`, &text)
	return text
}

// ticks are the texts below the x axis of a plot.
func (b *tab) ticks(plot string) (texts []string) {
	b.Helper()
	b.evaluate(fmt.Sprintf(`[...document.querySelectorAll('svg[aria-labelledby^="%s-t"] > text')].slice(-20).map(e => e.textContent).filter(t => /[0-9](ms|s| %%|\/s)?$/.test(t))`, plot), &texts)
	return texts
}

func TestPlotsAnswerInChromium(t *testing.T) {
	b := openTab(t, startChromium(t, false))
	b.show(address(t, "run"), view{width: 1440})
	whole, beside := b.ticks("throughput"), b.ticks("latency")

	b.mouse(input.DispatchMouseEventTypeMouseMoved, b.at("throughput", 0.5, 0.5))
	if got := b.told(); !strings.Contains(got, "succeeded") || !strings.Contains(got, "/s") {
		t.Errorf("over a plot: found %q, wanted the requests per second", got)
	}
	b.mouse(input.DispatchMouseEventTypeMouseMoved, b.at("throughput", 0.25, 0.5))
	b.mouse(input.DispatchMouseEventTypeMousePressed, b.at("throughput", 0.25, 0.5))
	b.mouse(input.DispatchMouseEventTypeMouseMoved, b.at("throughput", 0.4, 0.5))
	b.mouse(input.DispatchMouseEventTypeMouseMoved, b.at("throughput", 0.5, 0.5))
	b.mouse(input.DispatchMouseEventTypeMouseReleased, b.at("throughput", 0.5, 0.5))
	zoomed := b.ticks("throughput")
	if slices.Equal(zoomed, whole) || slices.Contains(zoomed, "0s") {
		t.Errorf("after dragging over a part of the axis: found the ticks %q", zoomed)
	}
	if got := b.ticks("latency"); slices.Equal(got, beside) || slices.Contains(got, "0s") {
		t.Errorf("the plot beside it has another time: found the ticks %q", got)
	}
	b.complain(view{width: 1440}, b.layout(view{width: 1440}))

	// What is left of the window is at a quarter to a half of it, so its middle is at three eighths.
	b.mouse(input.DispatchMouseEventTypeMouseMoved, b.at("throughput", 0.5, 0.5))
	inside := b.told()
	var clicked bool
	b.evaluate(`document.querySelector("figcaption button").click() ?? true`, &clicked)
	b.mouse(input.DispatchMouseEventTypeMouseMoved, b.at("throughput", 0.375, 0.5))
	if got := b.told(); got != inside || got == "" {
		t.Errorf("the middle of the zoomed plot says %q, and the same place of the whole %q", inside, got)
	}
	if got := b.ticks("throughput"); !slices.Equal(got, whole) {
		t.Errorf("back again: found the ticks %q, wanted %q", got, whole)
	}
	b.wantNoRequests()
}

// A keyboard reads a plot and zooms, too.
func TestPlotsAnswerToAKeyboardInChromium(t *testing.T) {
	b := openTab(t, startChromium(t, false))
	b.show(address(t, "run"), view{width: 400})
	whole := b.ticks("throughput")
	b.evaluate(`document.querySelector('svg[aria-labelledby^="throughput-t"]').focus()`, nil)
	b.press("ArrowRight")
	first := b.told()
	b.press("ArrowRight")
	if second := b.told(); first == "" || second == "" || first == second {
		t.Errorf("found %q, and one to the right %q", first, second)
	}
	b.press("+")
	if got := b.ticks("throughput"); slices.Equal(got, whole) {
		t.Errorf("after +: found the ticks %q", got)
	}
	b.press("Escape")
	if got := b.ticks("throughput"); !slices.Equal(got, whole) || b.told() != "" {
		t.Errorf("after Escape: found the ticks %q, wanted %q, and %q", got, whole, b.told())
	}
}
