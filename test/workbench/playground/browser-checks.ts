/** Checks that run in the page. They are texts, since tests know no DOM; each gives a list of what is wrong. */

/** Every element in the page and in the shadow trees of its editors. */
const ALL = `function* all(root) {
  for (const element of root.querySelectorAll("*")) {
    yield element;
    if (element.shadowRoot) yield* all(element.shadowRoot);
  }
}
const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
const nameIt = (element) => element.outerHTML.slice(0, 120);`;

/** Controls without a name for assistive technology. */
export const CONTROLS_WITHOUT_NAME = `(() => {
  ${ALL}
  const text = (element) => [...element.childNodes].map((node) => (node.nodeType === 3 ? node.data : node.getAttribute?.("aria-hidden") === "true" ? "" : text(node))).join("");
  const nameOf = (element) =>
    element.getAttribute("aria-label") ||
    (element.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim() ||
    [...(element.labels ?? [])].map(text).join(" ").trim() ||
    text(element).trim();
  return [...all(document)]
    .filter((element) => element.matches("a, button, input, select, textarea, dialog, section, nav, [role], [tabindex], [contenteditable=true]"))
    .filter((element) => shown(element) && !element.matches("[role=presentation], [role=status], [role=alert], .cm-scroller"))
    .filter((element) => element.matches(":not([aria-label]).cm-content") || !nameOf(element))
    .map(nameIt);
})()`;

/** Texts whose colour has a contrast of less than 4.5 to what is behind them. */
export const TEXTS_OF_LOW_CONTRAST = `(() => {
  ${ALL}
  const rgba = (color) => {
    const canvas = (rgba.canvas ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }));
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const parentOf = (element) => element.parentElement ?? element.getRootNode().host;
  const over = (top, below) => top.slice(0, 3).map((part, index) => part * top[3] + below[index] * (1 - top[3]));
  const ground = (element) => {
    if (!element) return [255, 255, 255];
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, ground(parentOf(element)));
  };
  const light = (color) => {
    const [r, g, b] = color.map((part) => ((part / 255) <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (element) => {
    const below = ground(element);
    const [one, two] = [light(over(rgba(getComputedStyle(element).color), below)), light(below)].sort((a, b) => b - a);
    return (one + 0.05) / (two + 0.05);
  };
  const spoken = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
  return [...all(document.body)]
    .filter((element) => element.tagName !== "SCRIPT" && spoken(element) && shown(element) && !element.closest(".unseen"))
    .map((element) => [contrast(element), element])
    .filter(([ratio]) => ratio < 4.5)
    .map(([ratio, element]) => ratio.toFixed(2) + " " + nameIt(element));
})()`;

/** How far editors can be scrolled to the side, in pixels, each distance once. */
export const EDITORS_SIDEWAYS = `[...new Set([...document.querySelectorAll(".editor")].map(({ shadowRoot }) => {
  const { scrollWidth, clientWidth } = shadowRoot.querySelector(".cm-scroller");
  return scrollWidth - clientWidth;
}))]`;

/** How far the page can be scrolled to the side, in pixels. */
export const SIDEWAYS = `document.documentElement.scrollWidth - document.documentElement.clientWidth`;

/** Elements that are cut off: by the edge of the screen, or by a box that hides what does not fit and cannot be scrolled. */
export const CLIPPED = `(() => {
  ${ALL}
  const hides = (element) => ["hidden", "clip"].includes(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1;
  // Layers of an editor are as wide as they must be; what stands in them is in its lines.
  const isText = (element) => !element.closest(".unseen, .cm-layer, .cm-gutters, .skips") && element.getBoundingClientRect().width > 0;
  return [...all(document.body)]
    .filter((element) => shown(element) && isText(element))
    .filter((element) => hides(element) || element.getBoundingClientRect().right > innerWidth + 1)
    .map(nameIt);
})()`;

/** Controls that are too small for a finger: below 24 pixels in either direction (WCAG 2.2, 2.5.8). */
export const SMALL_TARGETS = `(() => {
  ${ALL}
  return [...all(document)]
    .filter((element) => element.matches("button, input") && shown(element))
    .map((element) => [element.getBoundingClientRect(), element])
    .filter(([box]) => box.width < 24 || box.height < 24)
    .map(([box, element]) => box.width + "x" + box.height + " " + nameIt(element));
})()`;

/** Names of the panes that can be seen. */
export const SHOWN_PANES = `[...document.querySelectorAll("[data-pane]")].filter((each) => each.checkVisibility()).map((each) => each.dataset.pane)`;

const LONG_LINE = `[...document.querySelector("[data-pane=config] .editor").shadowRoot.querySelectorAll(".cm-line")]
  .find(({ textContent }) => textContent.includes("reverseExpression"))`;

/** Where what of a reverseExpression does not fit into its line goes on, in columns from where the line begins; -1 when it fits. */
export const COLUMN_OF_SECOND_ROW = `(() => {
  const line = ${LONG_LINE};
  const range = document.createRange();
  range.selectNodeContents(line);
  const rows = [...range.getClientRects()].filter(({ width }) => width > 0);
  const below = rows.find(({ top }) => top > rows[0].bottom - 2);
  range.setStart(line.firstChild, 0);
  range.setEnd(line.firstChild, 1);
  return below === undefined ? -1 : Math.round((below.left - rows[0].left) / range.getBoundingClientRect().width);
})()`;
