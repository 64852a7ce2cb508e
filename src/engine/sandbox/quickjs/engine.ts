/**
 * One instance of QuickJS, driven through the raw exports of its WASM module.
 *
 * The high-level binding is not used: its `dump` turns failures into values, its strings lose NUL and lone surrogates, and its
 * interrupt handler does not limit time.
 *
 * Guarantees:
 * - The instance can call the functions that it is given and nothing else. Only strings cross, and each call has its price in fuel.
 * - A refused growth of memory traps. The guest never sees an "out of memory" that it could catch.
 *
 * After any exception from a method the instance is in an unknown state: call {@link QuickJsInstance.trapReason}, then drop it.
 *
 * @module
 */
import { assert } from "../../../base/errors.ts";
import type { Units } from "../../expression/functions/base64.ts";
import type { HostFunction, Outside } from "../../expression/functions/host-functions.ts";
import { createImports } from "./engine-imports.ts";
import {
  EVAL_COMPILE_ONLY,
  EVAL_STRICT,
  INTRINSICS,
  kindOfTag,
  STRING_HEADER_BYTES,
  type Handle,
  type Kind,
  type RawExports,
} from "./engine-layout.ts";
import { STEPS_MAX } from "./meter-function.ts";
import { stepsLeft } from "./meter.ts";
import { needsEscape, readUnits, writeText } from "./strings.ts";

export type { Handle };

/** The reason why an instance stopped: a limit, or a fault of the engine itself. */
export type TrapReason = "fuel" | "overhead" | "memory" | "stack" | "fault";

/** Steps of both counters: the program's own, and those inside the engine whose number depends on earlier evaluations. */
export interface Steps {
  readonly fuel: number;
  readonly overhead: number;
}

/** Bytes of one page of WASM memory. */
export const PAGE_BYTES = 65_536;

/** Number of pages that the module requires from the start. */
export const INITIAL_PAGES = 256;

/** Fuel for the host's own calls into the engine, which free, compile or read data that was already charged. */
export const HOST_FUEL = STEPS_MAX;

/** Allowed overhead in addition to one step for each step of fuel; ordinary programs need less than 1.2 per step. */
const OVERHEAD_BASE = 200_000;

/** Options of an instance. */
export interface QuickJsInstanceOptions {
  /** The metered module. */
  readonly module: WebAssembly.Module;
  /** Maximum size of the memory, in bytes. {@link QuickJsInstance.allowMemory} can set a lower limit. */
  readonly memoryBytes: number;
  /** The engine refuses calls that nest deeper than this, in bytes of its own stack. */
  readonly stackBytes: number;
  /** Functions that the guest can call. All instances of one image have the same. */
  readonly functions: readonly HostFunction[];
  /** Functions of the sandbox's owner that they call. */
  readonly outside: Outside;
}

/** Addresses of the parts of an instance in its memory. */
interface Layout {
  readonly context: number;
  /** Space for arguments, then for short texts. */
  readonly scratch: number;
}

/** An instance at rest: its memory pages that are not empty, by number. */
export interface Snapshot {
  readonly pages: ReadonlyMap<number, Uint8Array>;
  readonly layout: Layout;
}

/** Options for the evaluation of a source. */
export interface EvaluateSourceOptions {
  /** Shown in stack traces. */
  readonly file: string;
  /** Only compiles; the resulting value can only be freed. */
  readonly compileOnly?: boolean;
}

/** Number of arguments of every call. */
const ARGUMENTS = 3;
const ARGUMENTS_BYTES = ARGUMENTS * 4;
const TEXT_BYTES = 16_384;
/** A code unit takes at most three bytes of UTF-8; one byte is for the closing zero. */
const SCRATCH_TEXT_MAX = Math.floor((TEXT_BYTES - 1) / 3);

/** A running instance. */
export class QuickJsInstance {
  readonly undefined: Handle;
  readonly null: Handle;
  readonly true: Handle;
  readonly false: Handle;
  readonly #options: QuickJsInstanceOptions;
  readonly #memory: WebAssembly.Memory;
  readonly #raw: RawExports;
  readonly #layout: Layout;
  #bytes: Uint8Array;
  #words: Int32Array;
  #growthRefused = false;
  #memoryAllowed: number;
  #givenFuel = HOST_FUEL;
  #givenOverhead = STEPS_MAX;

  /** Boots an instance, or continues one from its snapshot. */
  constructor(options: QuickJsInstanceOptions, snapshot?: Snapshot) {
    this.#options = options;
    this.#memoryAllowed = options.memoryBytes;
    const initial = INITIAL_PAGES;
    this.#memory = new WebAssembly.Memory({ initial, maximum: Math.floor(options.memoryBytes / PAGE_BYTES) });
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#words = new Int32Array(this.#memory.buffer);
    const imports = createImports({
      memory: this.#memory,
      growTo: (bytes) => this.#growTo(bytes),
      callFunction: (id, values, count) => this.#callHost(id, values, count),
    });
    const { exports } = new WebAssembly.Instance(options.module, imports);
    this.#raw = exports as unknown as RawExports;
    this.refuel(HOST_FUEL);
    this.#layout = snapshot === undefined ? this.#boot() : this.#restore(snapshot);
    this.undefined = this.#raw.E();
    this.null = this.#raw.F();
    this.false = this.#raw.G();
    this.true = this.#raw.H();
  }

  /** Steps that are left; the instance traps when they fall below zero. */
  get fuel(): number {
    return stepsLeft(this.#raw.fuelLeft());
  }

  /** Sets the steps that are left: `fuel`, and `overhead`, by default as much as this fuel can need. */
  refuel(fuel: number, overhead: number = fuel + OVERHEAD_BASE): void {
    this.#givenFuel = fuel;
    this.#givenOverhead = Math.min(STEPS_MAX, overhead);
    this.#raw.refuel(fuel, this.#givenOverhead);
  }

  /** Steps taken since the last {@link refuel}; at most those given, also after a trap. */
  get taken(): Steps {
    const [fuel, overhead] = [this.#givenFuel, this.#givenOverhead];
    return { fuel: Math.min(fuel, fuel - this.fuel), overhead: Math.min(overhead, overhead - this.#raw.overheadLeft()) };
  }

  /** Lets the memory grow to `bytes` from now on, but never beyond its limit. */
  allowMemory(bytes: number): void {
    this.#memoryAllowed = Math.min(bytes, this.#options.memoryBytes);
  }

  /** Size of the memory now, in bytes. */
  get memoryBytes(): number {
    return this.#bytes.length;
  }

  /** Reason why the instance stopped, given the error of one of its methods. */
  trapReason(error: unknown): TrapReason {
    if (this.#growthRefused) return "memory";
    if (this.fuel < 0) return "fuel";
    if (this.#raw.overheadLeft() < 0) return "overhead";
    return error instanceof RangeError ? "stack" : "fault";
  }

  /** Copies the memory. Use it only at rest: the stack of a running call is not complete in memory. */
  snapshot(): Snapshot {
    const pages = new Map<number, Uint8Array>();
    for (let page = 0; page < this.#bytes.length / PAGE_BYTES; page += 1) {
      if (hasContents(this.#words, page)) pages.set(page, this.#bytes.slice(page * PAGE_BYTES, (page + 1) * PAGE_BYTES));
    }
    return { pages, layout: this.#layout };
  }

  /** Evaluates `source` as strict code. The value is an exception when it does not compile or throws. */
  evaluateSource(source: string, options: EvaluateSourceOptions): Handle {
    const flags = EVAL_STRICT | (options.compileOnly === true ? EVAL_COMPILE_ONLY : 0);
    const file = this.#allocateText(options.file);
    const text = this.#allocateText(source);
    const length = this.#bytes.indexOf(0, text) - text;
    const value = this.#raw.pa(this.#layout.context, text, length, file, 0, flags);
    this.#raw.M(text);
    this.#raw.M(file);
    return value;
  }

  /** Calls a function without `this` and with up to three arguments. The value is an exception when it throws. */
  call(callee: Handle, first: Handle, second: Handle = this.undefined, third: Handle = this.undefined): Handle {
    const { context, scratch } = this.#layout;
    const at = scratch >> 2;
    this.#words[at] = first;
    this.#words[at + 1] = second;
    this.#words[at + 2] = third;
    return this.#raw.ma(context, callee, this.undefined, ARGUMENTS, scratch);
  }

  /** The thrown value of the exception `value`. */
  takeThrown(value: Handle): Handle {
    return this.#raw.na(this.#layout.context, value);
  }

  free(value: Handle): void {
    this.#raw.P(this.#layout.context, value);
  }

  /** The engine's own global object. It must never reach an expression. */
  globalObject(): Handle {
    return this.#raw.ua(this.#layout.context);
  }

  /** The way out of host function number `id`: a guest function that calls it with one flat string. */
  wayOut(id: number): Handle {
    return this.#raw.Da(this.#layout.context, this.#scratchText(this.#options.functions[id]!.name), 1, 0, id);
  }

  property(object: Handle, key: string): Handle {
    const name = this.newPlainText(key);
    const value = this.#raw.ha(this.#layout.context, object, name);
    this.free(name);
    return value;
  }

  newNumber(value: number): Handle {
    return this.#raw.Y(this.#layout.context, value);
  }

  /** A string value; undefined if `text` has NUL or lone surrogates, which must be passed as JSON. */
  newText(text: string): Handle | undefined {
    if (text.length > SCRATCH_TEXT_MAX) return needsEscape(text) ? undefined : this.#newLongText(text);
    const address = this.#layout.scratch + ARGUMENTS_BYTES;
    return writeText(this.#bytes, address, text) ? this.#raw._(this.#layout.context, address) : undefined;
  }

  /** A string value of text that is known to be free of NUL and lone surrogates. */
  newPlainText(text: string): Handle {
    const value = this.newText(text);
    assert(value !== undefined, "the text is plain");
    return value;
  }

  #newLongText(text: string): Handle {
    const address = this.#allocateText(text);
    const value = this.#raw._(this.#layout.context, address);
    this.#raw.M(address);
    return value;
  }

  kind(value: Handle): Kind {
    return kindOfTag(this.#words[(value >> 2) + 1]!);
  }

  readNumber(value: Handle): number {
    return this.#raw.Z(this.#layout.context, value);
  }

  readBoolean(value: Handle): boolean {
    return this.#words[value >> 2] !== 0;
  }

  /** Length in code units of the string `value`. */
  lengthOf(value: Handle): number {
    return this.#words[(this.#words[value >> 2]! >> 2) + 1]! & 0x7fff_ffff;
  }

  /** The text of the string `value`. */
  readText(value: Handle): string {
    const string = this.#words[value >> 2]!;
    const header = this.#words[(string >> 2) + 1]!;
    if (header < 0) return readUnits(this.#unitsOf(value));
    // Most texts are short and stored as bytes; creating a view would take longer than reading them.
    const address = string + STRING_HEADER_BYTES;
    return readUnits(this.#bytes, address, address + header);
  }

  /** The code units of the string `value`, in place: valid until the memory grows or the value is freed. */
  #unitsOf(value: Handle): Units {
    const address = this.#words[value >> 2]! + STRING_HEADER_BYTES;
    const header = this.#words[(this.#words[value >> 2]! >> 2) + 1]!;
    const length = header & 0x7fff_ffff;
    // The top bit of the length distinguishes 16-bit units from bytes.
    return header >= 0 ? this.#bytes.subarray(address, address + length) : new Uint16Array(this.#bytes.buffer, address, length);
  }

  /** Creates a string value from Latin-1 text, including NUL: it creates a string of that length and overwrites it before it is visible. */
  #newLatin1(units: Uint8Array): Handle {
    const address = this.#raw.v(units.length + 1);
    this.#bytes.fill(FILLER, address, address + units.length)[address + units.length] = 0;
    const value = this.#raw._(this.#layout.context, address);
    this.#raw.M(address);
    if (units.length === 0) return value;
    const string = this.#words[value >> 2]!;
    assert(this.#words[string >> 2] === 1, "a new string is not shared");
    this.#bytes.set(units, string + STRING_HEADER_BYTES);
    return value;
  }

  #boot(): Layout {
    this.#raw.u();
    const runtime = this.#raw.K();
    this.#disableCollector(runtime);
    this.#raw.D(runtime, this.#options.stackBytes);
    const intrinsics = Object.values(INTRINSICS).reduce((all: number, one) => all | one, 0);
    return { context: this.#raw.N(runtime, intrinsics), scratch: this.#raw.v(ARGUMENTS_BYTES + TEXT_BYTES) };
  }

  /**
   * Prevents the engine from collecting cyclic garbage. The time of a collection would depend on earlier evaluations, and its steps would
   * count. Cycles stay until the memory has grown; then the instance is dropped as a whole.
   */
  #disableCollector(runtime: number): void {
    const fields = this.#words.subarray(runtime >> 2, (runtime >> 2) + RUNTIME_WORDS);
    const field = fields.indexOf(COLLECT_FROM);
    assert(field >= 0 && fields.indexOf(COLLECT_FROM, field + 1) < 0, "the runtime has one threshold for its collector");
    fields[field] = -1;
  }

  #restore(snapshot: Snapshot): Layout {
    for (const [page, contents] of snapshot.pages) this.#bytes.set(contents, page * PAGE_BYTES);
    return snapshot.layout;
  }

  #scratchText(text: string): number {
    const address = this.#layout.scratch + ARGUMENTS_BYTES;
    writeText(this.#bytes, address, text);
    return address;
  }

  #allocateText(text: string): number {
    const address = this.#raw.v(text.length * 3 + 1);
    writeText(this.#bytes, address, text);
    return address;
  }

  #growTo(bytes: number): void {
    this.#growthRefused = true;
    if (bytes > this.#memoryAllowed) throw new RangeError("The memory limit is reached");
    this.#memory.grow(Math.ceil((bytes - this.#bytes.length) / PAGE_BYTES));
    this.#growthRefused = false;
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#words = new Int32Array(this.#memory.buffer);
  }

  #callHost(id: number, values: number, count: number): Handle {
    assert(count === 1 && this.kind(values) === "string", "the realm calls the host with one flat string");
    const { fuel, answer } = this.#options.functions[id]!;
    this.#charge(fuel + this.lengthOf(values));
    if ("fromUnits" in answer) {
      const converted = answer.fromUnits(this.#unitsOf(values));
      return converted === undefined ? 0 : this.#newLatin1(converted);
    }
    const text = answer.fromText(this.readText(values), this.#options.outside);
    // Results of functions rarely have such characters, which do not justify a special path.
    return this.newText(text) ?? this.newPlainText(text.replace(NOT_PLAIN, "\ufffd"));
  }

  /** Charges `steps` for work of the host, or stops the instance before that work is done. */
  #charge(steps: number): void {
    const left = this.fuel - steps;
    this.#raw.refuel(Math.max(left, -1), this.#raw.overheadLeft());
    if (left < 0) throw new Error("The fuel does not cover the work of the host");
  }
}

const FILLER = 0x61;
/** Characters that {@link QuickJsInstance.newText} cannot bring in. */
const NOT_PLAIN = /[\0\p{Surrogate}]/gu;
/** Number of words of a runtime that are searched for the threshold of its collector, and the initial value of that threshold. */
const RUNTIME_WORDS = 64;
const COLLECT_FROM = 256 * 1024;

/** Uses a loop, because a call for each of four million words would take longer than all other work at the start of the engine. */
function hasContents(words: Int32Array, page: number): boolean {
  const end = ((page + 1) * PAGE_BYTES) / 4;
  for (let at = (page * PAGE_BYTES) / 4; at < end; at += 1) if (words[at] !== 0) return true;
  return false;
}
