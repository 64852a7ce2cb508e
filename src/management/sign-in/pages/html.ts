/** Escapes every special character of a text, for content and for quoted attributes. */
export function escapeHtml(text: string): string {
  const named: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => named[character]!);
}

/** HTML that is not escaped again. */
export interface Html {
  readonly html: string;
}

/**
 * HTML of a template: values are escaped, unless they are HTML themselves; lists are joined.
 *
 * @example
 * html`<p>${"<b>"}</p>`.html; // "<p>&lt;b&gt;</p>"
 */
export function html(parts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const texts = values.map((value) => {
    if (typeof value === "string") return escapeHtml(value);
    return "html" in value ? value.html : value.map((item) => item.html).join("");
  });
  return { html: parts.map((part, index) => part + (texts[index] ?? "")).join("") };
}
