const SHOWN_MAX = 100;

/**
 * Formats a JSON value for messages: on one line, shortened if it is long.
 *
 * @example
 * shown({ a: 1 }); // '{"a":1}'
 * shown(undefined); // "nothing"
 */
export function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
