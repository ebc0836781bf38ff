// Plots answer to the pointer and to the keyboard: they show the values of a place, and zoom into a part of their x axis.
// Without this script, everything is on the page, too.
(() => {
  "use strict";
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  document.body.append(tip);

  // What plots have on their x axes, see plots/zoom.go. step is the distance of two ticks.
  const short = (v, step) => Number(v.toFixed(Math.max(0, Math.min(9, Math.ceil(1 - Math.log10(step)))))).toLocaleString("en", { maximumFractionDigits: 9 });
  const write = {
    seconds: (v, step) => v < 1 && step < 0.1 ? short(1000 * v, 1000 * step) + "ms" : short(v, step) + "s",
    percentile: v => Number((100 - 100 / v).toFixed(Math.ceil(Math.log10(v)) + 1)) + " %",
    rate: (v, step) => short(v, step) + "/s",
    number: short,
  };

  // panelOf reads a pair of axes. from and to are the shown part of its x axis, as shares of the whole.
  const panelOf = data => {
    const [kind, min, max, form] = data.dataset.x.split(" ");
    const [x, y, width, height] = data.getAttribute("viewBox").split(" ").map(Number);
    const low = Number(min), high = Number(max), log = form === "log";
    const ticks = [...data.parentNode.children].filter(e => e.tagName === "text" && e.getAttribute("y") > y + height + 10 && e.getAttribute("y") < y + height + 28);
    return {
      kind, data, x, y, width, height, from: 0, to: 1,
      marks: [...data.querySelectorAll("g:has(> title)")].map(e => ({ e })),
      ticks: ticks.map(e => ({ e, text: e.textContent, x: e.getAttribute("x"), length: e.getAttribute("textLength") })),
      value: share => log ? low * (high / low) ** share : low + (high - low) * share,
      share: value => Math.max(0, Math.min(1, log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low))),
    };
  };

  const show = (panel, from, to) => {
    const whole = from <= 0 && to >= 1;
    panel.from = from;
    panel.to = to;
    panel.data.setAttribute("viewBox", [panel.x + from * panel.width, panel.y, (to - from) * panel.width, panel.height].join(" "));
    panel.data.setAttribute("overflow", whole ? "visible" : "hidden");
    panel.data.classList.toggle("zoomed", !whole);
    for (const m of panel.marks) {
      // A mark keeps its shape.
      m.box ??= m.e.getBBox();
      const middle = m.box.x + m.box.width / 2;
      m.e.setAttribute("transform", `translate(${middle}) scale(${to - from} 1) translate(${-middle})`);
    }
    for (const t of panel.ticks) {
      if (whole) {
        t.e.textContent = t.text;
        t.e.removeAttribute("text-anchor");
        t.e.setAttribute("x", t.x);
        t.e.setAttribute("textLength", t.length);
        continue;
      }
      const middle = Number(t.x) + Number(t.length) / 2;
      const at = share => panel.value(from + (to - from) * share);
      const share = (middle - panel.x) / panel.width;
      t.e.textContent = write[panel.kind](at(share), Math.abs(at(Math.min(1, share + 0.1)) - at(Math.max(0, share - 0.1))));
      t.e.removeAttribute("textLength");
      t.e.setAttribute("text-anchor", "middle");
      t.e.setAttribute("x", Math.min(middle, 416 - 3.3 * t.e.textContent.length));
    }
  };

  const charts = new Map();
  // zoom shows a part of the x axis of a chart, and of the charts beside it that have the same time.
  const zoom = (chart, from, to) => {
    const first = chart.panels[0], low = first.value(from), high = first.value(to);
    const beside = [...chart.plot.closest(".plots, body").querySelectorAll("svg.plot")].map(plot => charts.get(plot));
    for (const other of beside.filter(c => c && (c === chart || first.kind === "seconds" && c.panels[0]?.kind === "seconds"))) {
      const whole = from <= 0 && to >= 1;
      for (const panel of other.panels) {
        show(panel, whole ? 0 : panel.share(low), whole ? 1 : panel.share(high));
      }
      const caption = other.plot.closest("figure")?.querySelector("figcaption");
      caption?.querySelector("button")?.remove();
      if (caption && !whole) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = "Show all";
        button.addEventListener("click", () => zoom(other, 0, 1));
        caption.firstChild.after(button);
      }
    }
  };

  let marked;
  const hide = () => {
    marked?.classList.remove("on");
    marked = undefined;
    tip.hidden = true;
  };
  const tell = (place, text, x, y) => {
    hide();
    marked = place;
    place.classList.add("on");
    tip.textContent = text.replace(": ", "\n").replaceAll(/[,;] /g, "\n");
    tip.hidden = false;
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 4)) + "px";
    tip.style.top = Math.max(4, y + 14 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 14 : y + 14) + "px";
  };

  const connect = plot => {
    const chart = { plot, panels: [...plot.querySelectorAll("svg.data")].map(panelOf) };
    const texts = new Map();
    charts.set(plot, chart);
    for (const title of plot.querySelectorAll(":scope * > title")) {
      texts.set(title.parentNode, title.textContent);
      title.remove();
    }
    const places = [...texts.keys()].filter(e => e.tagName === "path");
    plot.setAttribute("tabindex", "0");

    const at = event => new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.getScreenCTM().inverse());
    const shareOf = (panel, x) => Math.max(0, Math.min(1, (x - panel.x) / panel.width));
    let begin, range;
    const end = () => {
      range?.remove();
      begin = range = undefined;
    };
    plot.addEventListener("pointerdown", event => {
      const p = at(event), panel = chart.panels.find(q => p.x >= q.x && p.x <= q.x + q.width && p.y >= q.y && p.y <= q.y + q.height);
      if (panel && event.button === 0 && event.pointerType !== "touch") {
        begin = { panel, share: shareOf(panel, p.x) };
        event.preventDefault();
        plot.focus({ preventScroll: true, focusVisible: false });
      }
    });
    plot.addEventListener("pointermove", event => {
      if (begin) {
        const { panel, share } = begin, now = shareOf(panel, at(event).x);
        if (!range) {
          range = document.createElementNS(plot.namespaceURI, "rect");
          range.setAttribute("class", "range");
          range.setAttribute("pointer-events", "none");
          plot.append(range);
        }
        const box = { x: panel.x + Math.min(share, now) * panel.width, y: panel.y, width: Math.abs(now - share) * panel.width, height: panel.height };
        Object.entries(box).forEach(([name, value]) => range.setAttribute(name, value));
      }
      let place = event.target;
      while (place !== plot && place && !texts.has(place)) {
        place = place.parentNode;
      }
      texts.has(place) ? tell(place, texts.get(place), event.clientX, event.clientY) : hide();
    });
    plot.addEventListener("pointerup", event => {
      if (begin && range && range.getAttribute("width") > 6) {
        const { panel, share } = begin, now = shareOf(panel, at(event).x), part = panel.to - panel.from;
        const shares = [share, now].sort((a, b) => a - b).map(s => panel.from + part * s);
        hide();
        zoom(chart, ...shares);
      }
      end();
    });
    plot.addEventListener("pointerleave", () => { hide(); end(); });
    plot.addEventListener("dblclick", () => zoom(chart, 0, 1));
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", event => {
      const now = places.indexOf(marked), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const panel = chart.panels[0];
      if (step && places.length) {
        const next = places[Math.max(0, Math.min(places.length - 1, now < 0 ? 0 : now + step))], box = next.getBoundingClientRect();
        tell(next, texts.get(next), box.right, box.top);
      } else if (event.key === "+" && panel) {
        const box = marked?.getBBox(), middle = box ? (box.x + box.width / 2 - panel.x) / panel.width : (panel.from + panel.to) / 2, half = (panel.to - panel.from) / 4;
        zoom(chart, Math.max(0, middle - half), Math.min(1, middle + half));
      } else if (event.key === "Escape" || event.key === "-") {
        hide();
        zoom(chart, 0, 1);
      } else {
        return;
      }
      event.preventDefault();
    });
  };
  document.querySelectorAll("svg.plot").forEach(connect);
})();
