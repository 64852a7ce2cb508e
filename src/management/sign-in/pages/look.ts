/** The part of `uiSettings` that the pages use. External scripts and style sheets are not allowed on a page with a password field. */
export interface UiSettings {
  readonly logoURL?: string;
  readonly faviconURL?: string;
  readonly logoBackgroundColor?: string;
  readonly primaryColor?: string;
  readonly accentColor?: string;
  readonly legalTemplate?: string;
  readonly externalURLs?: { readonly block?: boolean; readonly allow?: readonly string[] };
}

/** The accepted formats of colours. */
const HEX = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;
const RGB = /^rgba?\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*(?:,\s*(?:0|1|0?\.\d{1,3})\s*)?\)$/i;

/** A colour of the settings; undefined for an invalid one. */
function colour(text = ""): { readonly text: string; readonly light: boolean } | undefined {
  const rgb = RGB.exec(text);
  const parts = rgb ? rgb.slice(1, 4).map(Number) : HEX.test(text) ? hexParts(text.slice(1)) : undefined;
  if (parts === undefined || parts.some((part) => part > 255)) return undefined;
  return { text, light: luminance(parts) > 0.18 };
}

function hexParts(digits: string): readonly number[] {
  const whole = digits.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits;
  return [0, 2, 4].map((start) => Number.parseInt(whole.slice(start, start + 2), 16));
}

/** Relative luminance, which decides whether black or white has more contrast. Source: WCAG 2.2. */
function luminance(parts: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * An image from the settings, with the source that the page's policy must allow. Undefined if no page shows it: it is served over plain
 * HTTP, or it comes from another site while the settings block other sites.
 */
export function imageOf(address = "", { block = false, allow = [] }: UiSettings["externalURLs"] & object = {}): Image | undefined {
  if (address.length > 2_000 || address === "") return undefined;
  if (/^\/(?![/\\])[^\s"'<>\\]*$/.test(address)) return { src: address, source: "'self'" };
  if (!URL.canParse(address)) return undefined;
  const { protocol, origin, href, username, password } = new URL(address);
  if (protocol !== "https:" || username !== "" || password !== "" || /[;,\s]/.test(origin)) return undefined;
  return block && !allow.includes(address) && !allow.includes(origin) ? undefined : { src: href, source: origin };
}

/** An image that a page shows. */
export interface Image {
  readonly src: string;
  /** Its source in the page's policy. */
  readonly source: string;
}

/** The style sheet of the pages, in the colours of the settings. */
export function styleSheet({ primaryColor, accentColor, logoBackgroundColor }: UiSettings): string {
  const [primary, accent, behind] = [primaryColor, accentColor, logoBackgroundColor].map(colour);
  const own = [
    primary && `--primary: ${primary.text}; --on-primary: ${primary.light ? "#000" : "#fff"};`,
    accent && `--focus: ${accent.text};`,
    behind && `--logo: ${behind.text};`,
  ].filter((line) => line !== undefined);
  return `${STYLE}${own.length > 0 ? `:root, :root:root { ${own.join(" ")} }\n` : ""}`;
}

const STYLE = `:root { color-scheme: light dark; --back: #f4f5f7; --card: #fff; --text: #1b1f24; --soft: #57606a; --line: #8c959f;
  --primary: #0b57d0; --on-primary: #fff; --focus: #0b57d0; --logo: transparent; --bad: #a40e26; }
@media (prefers-color-scheme: dark) { :root { --back: #0d1117; --card: #161b22; --text: #e6edf3; --soft: #9da7b3; --line: #6e7681;
  --primary: #8ab4f8; --on-primary: #000; --focus: #8ab4f8; --bad: #ff9a9a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 26rem; margin: 0 auto; padding: 1.5rem 1rem; }
@media (min-width: 40rem) { main { padding-top: 10vh; } }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 1.5rem; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
h2 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
.logo { display: block; max-height: 3rem; max-width: 100%; margin: 0 auto 1.5rem; background: var(--logo); padding: 0.25rem; }
ul.ways { list-style: none; margin: 0; padding: 0; }
ul.ways li { margin: 0 0 0.5rem; }
.button, button { display: block; width: 100%; min-height: 2.75rem; padding: 0.6rem 1rem; border: 1px solid var(--primary); border-radius: 0.375rem;
  background: var(--primary); color: var(--on-primary); font: inherit; text-align: center; text-decoration: none; cursor: pointer; }
button.second { background: transparent; color: var(--text); border-color: var(--line); margin-top: 0.5rem; }
label { display: block; margin: 0.75rem 0 0.25rem; }
input { width: 100%; min-height: 2.75rem; padding: 0.5rem; border: 1px solid var(--line); border-radius: 0.375rem; background: var(--card);
  color: var(--text); font: inherit; }
form button { margin-top: 1rem; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
code { display: block; padding: 0.75rem; border: 1px solid var(--line); border-radius: 0.375rem; overflow-wrap: anywhere; user-select: all; }
.soft { color: var(--soft); }
.bad { color: var(--bad); }
footer { margin-top: 1.5rem; color: var(--soft); font-size: 0.875rem; }
a { color: inherit; }
[hidden] { display: none; }
`;

/** The only script of the pages: a button that copies the key, if the browser supports it, and a form that is submitted without a click. */
export const SCRIPT = `document.getElementById("leave")?.submit();
const button = document.getElementById("copy");
if (button !== null && navigator.clipboard !== undefined) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById("key").textContent);
    document.getElementById("copied").textContent = "Copied";
  });
}
`;
