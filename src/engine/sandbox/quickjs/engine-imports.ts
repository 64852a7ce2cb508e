/**
 * Imports of the engine's module: a system without a clock, files or environment, in the time zone UTC.
 *
 * @module
 */

/** The instance, as the imports need it. */
export interface ImportHost {
  readonly memory: WebAssembly.Memory;
  /** Grows the memory to `bytes`, or throws: a refusal must not reach the guest as an error that it can catch. */
  growTo(bytes: number): void;
  /** Handles a call of the host's function `id`; takes and returns addresses of values. Zero is undefined. */
  callFunction(id: number, values: number, count: number): number;
}

const NOT_SUPPORTED = 52;
/** Size of `struct tm`. All fields that the engine reads can be zero, including the offset to UTC. */
const TM_BYTES = 44;

/** The import object; the build names its members with letters. */
export function createImports(host: ImportHost): WebAssembly.Imports {
  const stop = (what: string) => () => {
    throw new Error(`The engine called ${what}`);
  };
  const view = () => new Uint8Array(host.memory.buffer);
  return {
    a: {
      a: host.memory,
      b: stop("assert"),
      c: () => NOT_SUPPORTED,
      d: () => NOT_SUPPORTED,
      e: () => NOT_SUPPORTED,
      f: () => NOT_SUPPORTED,
      g: stop("the module loader"),
      h: stop("the module loader"),
      i: () => 0,
      j: () => 0,
      k(bytes: number) {
        host.growTo(bytes >>> 0);
        return 1;
      },
      l: () => undefined,
      m: (_time: bigint, tm: number) => void view().fill(0, tm, tm + TM_BYTES),
      n(zone: number, daylight: number, standardName: number, daylightName: number) {
        const bytes = view();
        bytes.fill(0, zone, zone + 4);
        bytes.fill(0, daylight, daylight + 4);
        for (const name of [standardName, daylightName]) bytes.set([0x55, 0x54, 0x43, 0], name);
      },
      o: () => NOT_SUPPORTED,
      // QuickJS seeds its random numbers with the time. Both are removed for the guest; a constant keeps instances alike.
      p: () => 0,
      q: stop("abort"),
      r: stop("exit"),
      s: (_context: number, _self: number, count: number, values: number, id: number) => host.callFunction(id, values, count),
      t: () => undefined,
    },
  };
}
