import type { ServerResponse } from "node:http";

/**
 * Maximum size of all warnings of one response, in bytes; the excess is truncated or dropped. Source: the API server's warning recorder.
 */
const WARNINGS_BYTES_MAX = 4_096;
const WARNING_LENGTH_MAX = 256;

/**
 * The warnings of one response, without duplicates. Long texts are truncated if the warnings do not all fit, and warnings that still do not
 * fit are dropped. Each warning becomes a header with its text, quoted and without control characters.
 *
 * @example
 * const warnings = new Warnings(response);
 * warnings.add('unknown field "a"'); // Warning: 299 - "unknown field \"a\""
 */
export class Warnings {
  readonly #response: Pick<ServerResponse, "appendHeader" | "setHeader">;
  readonly #texts = new Set<string>();
  #whole = 0;
  #cut = 0;

  constructor(response: Pick<ServerResponse, "appendHeader" | "setHeader">) {
    this.#response = response;
  }

  /** Adds a warning. Must be called before the headers are sent. */
  add(text: string): void {
    if (this.#cut > WARNINGS_BYTES_MAX) return;
    // A text longer than the limit of all warnings is cut in any case.
    const plain = text.slice(0, WARNINGS_BYTES_MAX + 1).replace(/[^\x20-\x7e]/g, "?");
    if (this.#texts.has(plain)) return;
    const fitted = this.#whole <= WARNINGS_BYTES_MAX;
    this.#whole += plain.length;
    this.#cut += Math.min(plain.length, WARNING_LENGTH_MAX);
    const fits = this.#whole <= WARNINGS_BYTES_MAX;
    if (fitted && !fits) this.#response.setHeader("Warning", [...this.#texts].map(cut).map(valueOf));
    this.#texts.add(plain);
    if (this.#cut <= WARNINGS_BYTES_MAX) this.#response.appendHeader("Warning", valueOf(fits ? plain : cut(plain)));
  }
}

function cut(text: string): string {
  return text.slice(0, WARNING_LENGTH_MAX);
}

function valueOf(text: string): string {
  return `299 - "${text.replace(/["\\]/g, "\\$&")}"`;
}
