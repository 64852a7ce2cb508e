import { h } from "./h.ts";

/**
 * Copies a text. Where the browser keeps its clipboard from the page (a page that was opened from a file, for example), by the older
 * way of a selected text.
 *
 * @returns whether it was copied
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const area = h("textarea", { class: "unseen", "aria-hidden": "true", tabindex: -1 });
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}
