import { EngineError } from "../../../base/errors.ts";

const LINE_END = 0x0a;

/**
 * Splits a byte stream into lines of UTF-8 text, regardless of where its chunks end. Empty lines are dropped.
 *
 * @example
 * const splitter = new LineSplitter(1024);
 * splitter.push(Buffer.from('{"a":1}\n{"b"')); // yields '{"a":1}'
 * splitter.push(Buffer.from(":2}\n")); // yields '{"b":2}'
 */
export class LineSplitter {
  readonly #lineBytesMax: number;
  /** The beginning of an incomplete line. Decoded only as a whole, so that no character is cut in two. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(lineBytesMax: number) {
    this.#lineBytesMax = lineBytesMax;
  }

  /** True while the beginning of a line waits for its end. */
  get midLine(): boolean {
    return this.#pendingBytes > 0;
  }

  /**
   * The lines that end in `chunk`, which must be read to the end before the next push. What stands before a line that is too
   * long is handed out first.
   *
   * @throws API_ERROR when a line is longer than the limit.
   */
  *push(chunk: Buffer): Generator<string, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      const line = this.#close(chunk.subarray(start, end));
      if (line !== "") yield line;
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  #hold(part: Buffer): void {
    this.#pendingBytes += part.length;
    if (this.#pendingBytes > this.#lineBytesMax) {
      throw new EngineError("API_ERROR", `Cannot read the watch: an event is larger than ${this.#lineBytesMax} bytes`);
    }
    this.#pending.push(part);
  }

  #close(part: Buffer): string {
    this.#hold(part);
    const line = this.#pending.length === 1 ? part : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    return line.toString("utf8").trim();
  }
}
