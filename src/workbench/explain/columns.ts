/** Marks that are drawn above, below or between other characters. */
const NO_COLUMN = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** Characters that terminals draw in two columns: East Asian characters and emoji. */
const TWO_COLUMNS =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

/**
 * The number of terminal columns that a text occupies. An approximation: combined characters are counted one by one.
 *
 * @example
 * columnsOf("日本"); // 4
 */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += NO_COLUMN.test(character) ? 0 : TWO_COLUMNS.test(character) ? 2 : 1;
  return columns;
}
