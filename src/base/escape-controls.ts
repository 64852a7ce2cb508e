/** Controls, format characters, other invisible characters, and the remaining line ends. */
const UNSEEN = /[\p{C}\u2028\u2029]/gu;

/**
 * `text` on one line: characters that move a terminal's cursor, end a line or change the reading direction become JSON escapes.
 *
 * @param unseen which characters are escaped, one at a time.
 * @example
 * escapeControls("one\ntwo"); // "one\\u000atwo"
 */
export function escapeControls(text: string, unseen: RegExp = UNSEEN): string {
  return text.replace(unseen, (character) => character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`));
}
