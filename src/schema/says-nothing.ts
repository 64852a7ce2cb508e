/**
 * Tells whether a text of YAML has no more than space, comments and marks of documents. A file that somebody writes in place is like
 * that for a moment; who means nothing writes `{}`.
 *
 * @example
 * saysNothing("# later\n---\n"); // true
 */
export function saysNothing(text: string): boolean {
  return text.split(/\r?\n|\r/).every((line) => /^(\uFEFF|---|\.\.\.)?\s*(#.*)?$/.test(line));
}
