/** A small function that creates elements. It never parses markup, so displayed text cannot become code. */

/** Content of an element; `undefined`, `null` and `false` are left out. */
export type Child = Node | string | undefined | null | false;

/** Attributes by name. `true` is an empty attribute, `false` and `undefined` none; `on…` takes a listener, `class` as written. */
export type DomAttributes = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => void)>>;

const SVG = "http://www.w3.org/2000/svg";

/**
 * Creates an HTML element.
 *
 * @example
 * h("button", { type: "button", onclick: () => share() }, "Share");
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: DomAttributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return furnish(document.createElement(tag), attributes, children);
}

/** Creates an SVG element, like {@link h}. */
export function svg(tag: string, attributes: DomAttributes = {}, ...children: readonly Child[]): SVGElement {
  return furnish(document.createElementNS(SVG, tag) as SVGElement, attributes, children);
}

/** Replaces the contents of `parent` with `children`. */
export function fill(parent: Element, ...children: readonly Child[]): void {
  parent.replaceChildren(...shown(children));
}

function furnish<Made extends Element>(element: Made, attributes: DomAttributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...shown(children));
  return element;
}

function shown(children: readonly Child[]): (Node | string)[] {
  return children.filter((child) => child !== undefined && child !== null && child !== false);
}
