// An expression with what is wrong with the layout of the page in a window of this width, as a list of strings.
(width => {
  const slack = 0.5; // browsers round positions
  const found = [];
  const short = text => text.trim().replace(/\s+/g, " ").slice(0, 60);
  const shown = element => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

  // Texts: those of plots as a whole, others line by line. Heads of tables that are only for screen readers are clipped.
  const clipped = element => element.closest("thead") && getComputedStyle(element.closest("thead")).clipPath !== "none";
  const texts = [];
  const add = (text, rect, plot) => {
    if (rect.width > slack && rect.height > slack) {
      texts.push({ text: short(text), plot, left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom });
    }
  };
  for (const text of document.querySelectorAll("svg text")) {
    if (shown(text)) {
      add(text.textContent, text.getBoundingClientRect(), text.closest("svg.plot"));
    }
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.data.trim() === "" || node.parentElement.closest("svg") || !shown(node.parentElement) || clipped(node.parentElement)) {
      continue;
    }
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      add(node.data, rect);
    }
  }
  if (texts.length === 0) {
    found.push("the page has no text");
  }
  texts.sort((a, b) => a.top - b.top);
  texts.forEach((a, i) => {
    for (let j = i + 1; j < texts.length && texts[j].top < a.bottom - slack; j++) {
      const b = texts[j];
      if (b.left < a.right - slack && a.left < b.right - slack) {
        found.push(`overlap: "${a.text}" and "${b.text}" at ${Math.round(b.left)}, ${Math.round(b.top + scrollY)}`);
      }
    }
  });
  for (const t of texts.filter(t => t.plot)) {
    const plot = t.plot.getBoundingClientRect();
    if (t.left < plot.left - 1 || t.right > plot.right + 1 || t.top < plot.top - 1 || t.bottom > plot.bottom + 1) {
      found.push(`text leaves its plot: "${t.text}"`);
    }
  }

  // The page is as wide as the window. Only boxes that scroll have more.
  const scrolls = element => getComputedStyle(element).overflowX === "auto";
  const page = document.scrollingElement;
  if (page.scrollWidth > width || innerWidth !== width) {
    found.push(`too wide: the page has ${page.scrollWidth} px in a window of ${innerWidth} px, wanted ${width}`);
  }
  // Parts of a plot that a script has stretched are clipped.
  for (const element of document.body.querySelectorAll(":not(svg *)")) {
    const rect = element.getBoundingClientRect();
    let box = element.parentElement;
    while (box && !scrolls(box)) {
      box = box.parentElement;
    }
    if (!box && rect.width > 0 && shown(element) && (rect.right > width + slack || rect.left < -slack)) {
      found.push(`too wide: ${element.tagName} "${short(element.textContent)}" goes from ${Math.round(rect.left)} to ${Math.round(rect.right)}`);
    }
  }

  // Plots can be read: nothing is beside the window, and no letters are small.
  for (const plot of document.querySelectorAll("svg.plot")) {
    if (!shown(plot)) {
      continue;
    }
    const name = short(plot.querySelector("title").textContent);
    const size = plot.getBoundingClientRect();
    const letters = Number(plot.getAttribute("font-size")) * size.width / plot.viewBox.baseVal.width;
    if (!(letters >= 9)) {
      found.push(`plot too small: the letters of ${name} have ${letters} px`);
    }
  }

  // On a telephone, nothing must be scrolled sideways to be seen. A keyboard reaches what scrolls elsewhere.
  for (const box of document.querySelectorAll(".scroll, pre")) {
    if (!shown(box) || box.scrollWidth <= box.clientWidth + 1) {
      continue;
    }
    if (width < 640) {
      found.push(`cut off: ${box.getAttribute("aria-label")} has ${box.scrollWidth} px in ${box.clientWidth} px: "${short(box.textContent)}"`);
    }
    box.focus();
    if (document.activeElement !== box) {
      found.push(`a keyboard cannot scroll ${box.getAttribute("aria-label")}`);
    }
    box.blur();
  }
  scrollTo(0, 0);
  return found;
})
