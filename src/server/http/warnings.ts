/** Longest of all warnings of one answer together, in bytes; what is beyond is cut or left out. Source: the API server's warning recorder. */
const WARNINGS_BYTES_MAX = 4_096;
const WARNING_LENGTH_MAX = 256;

/**
 * The warnings of one answer, each once: as they are while they fit, and cut once they do not. Takes any number of them, and keeps
 * and looks at no more than what fits.
 *
 * @example
 * const warnings = new Warnings();
 * warnings.add('unknown field "a"'); // true: the headers are other ones now
 * warnings.headers(); // ['299 - "unknown field \\"a\\""']
 */
export class Warnings {
  readonly #texts = new Set<string>();
  #whole = 0;
  #cut = 0;
  #full = false;

  /** Tells whether the headers are other ones now. */
  add(text: string): boolean {
    if (this.#full) return false;
    // What is longer than all warnings together is cut in any case.
    const plain = text.slice(0, WARNINGS_BYTES_MAX + 1).replace(/[^\x20-\x7e]/g, "?");
    if (this.#texts.has(plain)) return false;
    this.#texts.add(plain);
    this.#whole += plain.length;
    this.#cut += Math.min(plain.length, WARNING_LENGTH_MAX);
    this.#full = this.#cut > WARNINGS_BYTES_MAX;
    return true;
  }

  /** The values of the `Warning` headers: quoted, without control characters, within the limits. */
  headers(): string[] {
    const fitting =
      this.#whole <= WARNINGS_BYTES_MAX ? [...this.#texts] : [...this.#texts].map((text) => text.slice(0, WARNING_LENGTH_MAX));
    // The last one is what made it full.
    if (this.#full) fitting.pop();
    return fitting.map((text) => `299 - "${text.replace(/["\\]/g, "\\$&")}"`);
  }
}
