/**
 * The instrumented places of one expression, and the text of the calls there.
 *
 * @module
 */
import type { TracePoint } from "./trace-point.ts";

/** A stretch of the parsed text. */
interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Input of {@link TracePlaces}. */
export interface PlacesOptions {
  /** The parsed text, to which the offsets of nodes refer. */
  readonly source: string;
  /** Where the expression starts in `source`. */
  readonly start: number;
  /** Prefix of the names of all inserted functions. No name in the expression starts with it. */
  readonly prefix: string;
  /** Maximum nesting of calls. */
  readonly nesting: number;
}

/** Collects places while an expression is instrumented. */
export class TracePlaces {
  /** The places. Calls refer to a place by its position in this list. */
  readonly points: TracePoint[] = [];
  /** Pairs of places: the count of the second must be subtracted from that of the first. */
  readonly differences: (readonly [of: number, taken: number])[] = [];
  readonly source: string;
  readonly prefix: string;
  readonly nesting: number;
  readonly #start: number;
  #depth = 0;
  #temporaries = 0;

  constructor({ source, start, prefix, nesting }: PlacesOptions) {
    this.source = source;
    this.prefix = prefix;
    this.nesting = nesting;
    this.#start = start;
  }

  /** True if calls are nested as deeply as allowed. */
  get isFull(): boolean {
    return this.#depth >= this.nesting;
  }

  /** Returns `wrapped()`, or `plain()` if calls are nested as deeply as allowed. */
  nest(wrapped: () => string, plain: () => string): string {
    return this.isFull ? plain() : this.deeper(wrapped);
  }

  /** Returns `render()`, which runs one level deeper. */
  deeper(render: () => string): string {
    this.#depth += 1;
    const text = render();
    this.#depth -= 1;
    return text;
  }

  /** The text of a call with positions and one expression. The space separates the name from a keyword before it, as in `return-1`. */
  call(name: string, positions: readonly number[], text: string): string {
    return ` ${this.prefix}${name}(${positions.join(",")},(${text}))`;
  }

  /** Adds a place and returns its position. */
  point(kind: TracePoint["kind"], { start, end }: Stretch, { label, anchor = start }: { label: string; anchor?: number }): number {
    const zero = this.#start;
    return this.points.push({ start: start - zero, end: end - zero, kind, label, anchor: anchor - zero }) - 1;
  }

  /** The text of a node. */
  sourceOf({ start, end }: Stretch): string {
    return this.source.slice(start, end);
  }

  /** Returns a new, unique name. */
  temporary(): string {
    this.#temporaries += 1;
    return `${this.prefix}${this.#temporaries}`;
  }
}
