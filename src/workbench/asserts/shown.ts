const SHOWN_MAX = 100;

/**
 * A JSON value as messages quote it: on one line, cut when it is long.
 *
 * @example
 * shown({ a: 1 }); // '{"a":1}'
 * shown(undefined); // "nothing"
 */
export function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
