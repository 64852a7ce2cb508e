/**
 * Tells whether a YAML text has only white space, comments and document markers. A file that is written in place looks like
 * that for a moment; an intentionally empty configuration is `{}`.
 *
 * @example
 * saysNothing("# later\n---\n"); // true
 */
export function saysNothing(text: string): boolean {
  return text.split(/\r?\n|\r/).every((line) => /^(\uFEFF|---|\.\.\.)?\s*(#.*)?$/.test(line));
}
