const LINE_END = 0x0a;

/** Splits a stream of bytes into the JSON values of its lines, regardless of where its chunks end. */
export class JsonLines {
  /** The beginning of an incomplete line. */
  #pending: Buffer[] = [];

  /**
   * Returns the values whose lines end in `chunk`.
   *
   * @throws SyntaxError when a line is not JSON.
   */
  push(chunk: Buffer): unknown[] {
    const values: unknown[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      const line = Buffer.concat([...this.#pending, chunk.subarray(start, end)]).toString("utf8");
      this.#pending = [];
      start = end + 1;
      if (line.trim() !== "") values.push(JSON.parse(line));
    }
    if (start < chunk.length) this.#pending.push(chunk.subarray(start));
    return values;
  }
}
