/**
 * Facts about the engine's build: its exports, its constants, and the layout of its values in memory. They are valid only for the file
 * whose digest `wasm-file.ts` checks.
 *
 * @module
 */
import type { MeterExports } from "./meter.ts";

/** Address of a value in the instance's memory. A caller that gets one from a method must free it. */
export type Handle = number;

/** Kind of a value, as far as the boundary needs it. A rope is a string that is stored in pieces. */
export type Kind = "string" | "rope" | "object" | "number" | "boolean" | "null" | "undefined" | "exception" | "symbol" | "bigint";

/** The exports in use; the build names them by letters. */
export interface RawExports extends MeterExports {
  /** Runs the static constructors. */
  u(): void;
  v(size: number): number;
  D(runtime: number, bytes: number): void;
  E(): Handle;
  F(): Handle;
  G(): Handle;
  H(): Handle;
  K(): number;
  M(address: number): void;
  N(runtime: number, intrinsics: number): number;
  P(context: number, value: Handle): void;
  Y(context: number, value: number): Handle;
  Z(context: number, value: Handle): number;
  _(context: number, text: number): Handle;
  ha(context: number, object: Handle, key: Handle): Handle;
  ma(context: number, callee: Handle, self: Handle, count: number, values: number): Handle;
  na(context: number, value: Handle): Handle;
  pa(context: number, source: number, length: number, file: number, detectModule: number, flags: number): Handle;
  ua(context: number): Handle;
  Da(context: number, name: number, length: number, constructs: number, id: number): Handle;
}

/** Parts of the language that a context can have, as bits. */
export const INTRINSICS = {
  base: 1,
  date: 2,
  eval: 4,
  normalize: 8,
  regExp: 16,
  regExpCompiler: 32,
  json: 64,
  mapSet: 256,
  bigInt: 2048,
} as const;
/** Flags for the evaluation of a source. */
export const EVAL_STRICT = 1 << 3;
export const EVAL_COMPILE_ONLY = 1 << 5;

/** Kinds by the tag in the upper half of a value's 64 bits; every other tag is a floating point number. */
const KINDS = new Map<number, Kind>([
  [-9, "bigint"],
  [-8, "symbol"],
  [-7, "string"],
  [-6, "rope"],
  [-1, "object"],
  [0, "number"],
  [1, "boolean"],
  [2, "null"],
  [3, "undefined"],
  [6, "exception"],
  [7, "bigint"],
]);
const TAG_MIN = Math.min(...KINDS.keys());
const TAG_MAX = Math.max(...KINDS.keys());
/** As a list, since every evaluation looks up a tag, and members with negative names are slow. */
const KIND_LIST = Array.from({ length: TAG_MAX - TAG_MIN + 1 }, (_, at): Kind => KINDS.get(TAG_MIN + at) ?? "number");

/** The kind of value that a tag marks. */
export function kindOfTag(tag: number): Kind {
  return tag >= TAG_MIN && tag <= TAG_MAX ? KIND_LIST[tag - TAG_MIN]! : "number";
}

/** Bytes of a string before its code units; the second word is its length, with the top bit for 16-bit units. */
export const STRING_HEADER_BYTES = 16;
