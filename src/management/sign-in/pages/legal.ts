import { escapeHtml, type Html } from "./html.ts";

/** Longest template that is shown, in UTF-16 units. */
const TEMPLATE_LENGTH_MAX = 20_000;

/** Matches elements without attributes, and links to other sites. */
const TAG = /<(\/?)(b|i|p|ul|li|span|a)(?:\s+href="((?:https:\/\/|mailto:)[^"<>\s]{1,2000})")?\s*>|<br\s*\/?>/gi;

/**
 * The HTML that an administrator wrote for the page: a few elements, and external links. Everything else is shown as text.
 *
 * @example
 * legalHtml('<b>Hello</b> <script>x</script>').html; // "<b>Hello</b> &lt;script&gt;x&lt;/script&gt;"
 */
export function legalHtml(template: string): Html {
  const text = template.slice(0, TEMPLATE_LENGTH_MAX);
  const open: string[] = [];
  let result = "";
  let last = 0;
  for (const match of text.matchAll(TAG)) {
    result += escapeHtml(text.slice(last, match.index));
    last = match.index + match[0].length;
    result += tagFor(match, open) ?? escapeHtml(match[0]);
  }
  result += escapeHtml(text.slice(last));
  return {
    html:
      result +
      open
        .reverse()
        .map((name) => `</${name}>`)
        .join(""),
  };
}

/** Returns the tag to write; undefined for a tag to show as text, for example one that closes an element that is not open. */
function tagFor([, slash, element, href]: RegExpMatchArray, open: string[]): string | undefined {
  if (element === undefined) return "<br>";
  const name = element.toLowerCase();
  if (slash === "/") {
    if (open.at(-1) !== name || href !== undefined) return undefined;
    open.pop();
    return `</${name}>`;
  }
  if ((name === "a") !== (href !== undefined)) return undefined;
  open.push(name);
  return href === undefined ? `<${name}>` : `<a href="${escapeHtml(href)}" rel="noopener noreferrer">`;
}
