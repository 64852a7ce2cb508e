/** Controls, format characters, other invisible characters, and the remaining line ends. */
const UNSEEN = /[\p{C}\u2028\u2029]/gu;

/**
 * Returns `text` on one line: JSON escapes replace the characters that move a terminal's cursor, end a line or change the reading
 * direction.
 *
 * @param unseen matches the characters to escape.
 * @example
 * escapeControls("one\ntwo"); // "one\\u000atwo"
 */
export function escapeControls(text: string, unseen: RegExp = UNSEEN): string {
  return text.replace(unseen, (character) => character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`));
}
