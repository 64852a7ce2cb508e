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
  /** The parsed text, which the nodes' offsets count in. */
  readonly source: string;
  /** Where the expression starts in it. */
  readonly start: number;
  /** Begins the names of all functions that are called; no name of the expression begins so. */
  readonly prefix: string;
  /** How many calls may nest. */
  readonly nesting: number;
}

/** Collects places while an expression is instrumented. */
export class TracePlaces {
  /** As the calls name them, by position. */
  readonly points: TracePoint[] = [];
  /** Pairs of places: from the count of the first, that of the second has to be taken. */
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

  /** Whether calls nest as deeply as they may. */
  get isFull(): boolean {
    return this.#depth >= this.nesting;
  }

  /** `wrapped()`, or `plain()` when calls nest as deeply as they may. */
  nest(wrapped: () => string, plain: () => string): string {
    return this.isFull ? plain() : this.deeper(wrapped);
  }

  /** `render()`, one level deeper. */
  deeper(render: () => string): string {
    this.#depth += 1;
    const text = render();
    this.#depth -= 1;
    return text;
  }

  /** A call with positions and the text of one expression. The space keeps the name apart from a keyword before it, as in `return-1`. */
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

  /** A name that nothing else has. */
  temporary(): string {
    this.#temporaries += 1;
    return `${this.prefix}${this.#temporaries}`;
  }
}
