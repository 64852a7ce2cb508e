/**
 * Rewrites the engine's WASM module so that it counts its own steps.
 *
 * Guarantees:
 * - Every function entry and every turn of every loop takes one step; bulk memory instructions take one more per 128 bytes. Code
 *   between two such points is bounded by the size of the module, so steps bound time, also inside native loops that never ask
 *   an interrupt handler.
 * - When a counter falls below zero the instance traps. WASM has no way to catch a trap, so no guest code can.
 * - The same evaluation takes the same fuel on every machine and whatever was evaluated before. Steps whose number depends on the
 *   past (how the free list looks, who else is in the same hash chain) have a counter of their own, "overhead": it bounds them
 *   like fuel but is not reported.
 *
 * The counters are globals of their own, out of reach of the module's memory: corrupted memory can not refuel.
 *
 * @module
 */
import { assert } from "../base/errors.ts";
import {
  KIND,
  OP,
  PREFIXED,
  Reader,
  SECTION,
  TYPE,
  Writer,
  encodeUnsigned,
  readSections,
  skipOperands,
  startModule,
} from "./wasm-format.ts";
import type { Section } from "./wasm-format.ts";

/**
 * Functions that the rewriting adds and exports. (They are several times as fast as the interface of an exported global.)
 *
 * `refuel(fuel, overhead)` sets both counters; `fuelLeft()` and `overheadLeft()` tell them.
 */
export interface MeterExports {
  refuel(fuel: number, overhead: number): void;
  fuelLeft(): number;
  overheadLeft(): number;
}

/** What the counters of a new instance hold, whose start function runs before anybody can set them. */
const INITIAL_STEPS = 1_073_741_824;

/** How many bytes a bulk memory instruction handles for one unit of fuel, as a power of two. */
const BULK_SHIFT = 7;

/** Which points count as overhead: all of a function, or some of its loops by their number in the text, from 1. */
export type OverheadPoints = ReadonlyMap<number, "all" | readonly number[]>;

/** What is written at the points of one counter. */
interface Charges {
  /** Takes one step, traps below zero. */
  readonly step: readonly number[];
  /** Takes the steps of a length that lies on the stack and stays there, by way of the local `scratch`. */
  bulk(scratch: number): readonly number[];
}

interface Counters {
  readonly fuel: Charges;
  readonly overhead: Charges;
}

/** One function while it is rewritten. */
interface FunctionPlan {
  readonly counters: Counters;
  readonly parameters: number;
  readonly overhead: "all" | readonly number[];
}

/**
 * The module with its counters. Equal bytes in, equal bytes out.
 *
 * @throws INTERNAL when the module uses a part of the format that the meter does not know.
 */
export function meterModule(bytes: Uint8Array, overheadPoints: OverheadPoints = new Map()): Uint8Array<ArrayBuffer> {
  const sections = readSections(bytes);
  const firstGlobal = find(sections, SECTION.global).unsigned();
  const counters = { fuel: createCharges(firstGlobal), overhead: createCharges(firstGlobal + 1) };
  const imported = countImportedFunctions(sections);
  const types = readTypes(sections);
  const plans = readFunctionTypes(sections).map((type, index) => {
    return { counters, parameters: types[type]!.parameters.length, overhead: overheadPoints.get(imported + index) ?? [] };
  });
  const access = createAccess(firstGlobal, types);
  const firstAccess = imported + plans.length;

  const module = startModule();
  for (const { id, contents } of sections) {
    const part = new Writer();
    const copy = new Reader(contents.bytes, contents.at, contents.end);
    if (id === SECTION.global) addCounters(copy, part);
    else if (id === SECTION.function)
      appendItems(
        copy,
        part,
        access.map(({ type }) => encodeUnsigned(type)),
      );
    else if (id === SECTION.export)
      appendItems(
        copy,
        part,
        access.map(({ name }, index) => exportEntry(name, firstAccess + index)),
      );
    else if (id === SECTION.code) meterFunctions(copy, part, { plans, access });
    else part.append(copy.bytes.subarray(copy.at, copy.end));
    module.byte(id);
    module.appendSized(part);
  }
  return module.bytes();
}

function find(sections: readonly Section[], id: number): Reader {
  const section = sections.find((candidate) => candidate.id === id);
  assert(section !== undefined, `the engine has section ${id}`);
  return new Reader(section.contents.bytes, section.contents.at, section.contents.end);
}

/** Parameter and result types of a function. */
interface FunctionType {
  readonly parameters: readonly number[];
  readonly results: readonly number[];
}

function readTypes(sections: readonly Section[]): FunctionType[] {
  const types = find(sections, SECTION.type);
  const list = () => Array.from({ length: types.unsigned() }, () => types.byte());
  return Array.from({ length: types.unsigned() }, () => {
    types.skip(1);
    return { parameters: list(), results: list() };
  });
}

/** The type number of each function that has a body. */
function readFunctionTypes(sections: readonly Section[]): number[] {
  const functions = find(sections, SECTION.function);
  return Array.from({ length: functions.unsigned() }, () => functions.unsigned());
}

/** Imported functions come first in the numbering of functions. */
function countImportedFunctions(sections: readonly Section[]): number {
  const imports = find(sections, SECTION.import);
  let functions = 0;
  for (let left = imports.unsigned(); left > 0; left -= 1) {
    imports.skip(imports.unsigned());
    imports.skip(imports.unsigned());
    if (imports.byte() === KIND.function) {
      functions += 1;
      imports.skipNumber();
    } else {
      const hasMaximum = imports.byte() === 1;
      imports.skipNumber();
      if (hasMaximum) imports.skipNumber();
    }
  }
  return functions;
}

function createCharges(counter: number): Charges {
  const global = encodeUnsigned(counter);
  const get = [OP.globalGet, ...global];
  const set = [OP.globalSet, ...global];
  const trapBelowZero = [...get, OP.i32Const, 0, OP.i32LessSigned, OP.if, TYPE.empty, OP.unreachable, OP.end];
  return {
    step: [...get, OP.i32Const, 1, OP.i32Subtract, ...set, ...trapBelowZero],
    bulk(scratch) {
      const local = encodeUnsigned(scratch);
      const steps = [OP.localGet, ...local, OP.i32Const, BULK_SHIFT, OP.i32ShiftRightUnsigned];
      return [OP.localTee, ...local, ...get, ...steps, OP.i32Subtract, ...set, ...trapBelowZero];
    },
  };
}

function addCounters(section: Reader, out: Writer): void {
  const mutable = 1;
  // The encoding is the signed one as well: its last byte is below 0x40.
  const counter = [TYPE.i32, mutable, OP.i32Const, ...encodeUnsigned(INITIAL_STEPS), OP.end];
  appendItems(section, out, [counter, counter]);
}

/** A function that the rewriting adds. */
interface AccessFunction {
  readonly name: keyof MeterExports;
  readonly type: number;
  readonly body: readonly number[];
}

function createAccess(firstGlobal: number, types: readonly FunctionType[]): AccessFunction[] {
  const fuel = encodeUnsigned(firstGlobal);
  const overhead = encodeUnsigned(firstGlobal + 1);
  const typeOf = (parameters: number, results: number) => {
    const index = types.findIndex((type) => {
      return type.parameters.length === parameters && type.results.length === results && [...type.parameters, ...type.results].every(isI32);
    });
    assert(index >= 0, `the engine has a function with ${parameters} parameters and ${results} results`);
    return index;
  };
  const get = (counter: readonly number[]) => [OP.globalGet, ...counter, OP.end];
  return [
    {
      name: "refuel",
      type: typeOf(2, 0),
      body: [OP.localGet, 0, OP.globalSet, ...fuel, OP.localGet, 1, OP.globalSet, ...overhead, OP.end],
    },
    { name: "fuelLeft", type: typeOf(0, 1), body: get(fuel) },
    { name: "overheadLeft", type: typeOf(0, 1), body: get(overhead) },
  ];
}

function isI32(type: number): boolean {
  return type === TYPE.i32;
}

/** Copies a list of items and appends more. */
function appendItems(section: Reader, out: Writer, items: readonly (readonly number[])[]): void {
  out.unsigned(section.unsigned() + items.length);
  out.append(section.bytes.subarray(section.at, section.end));
  for (const item of items) out.append(item);
}

function exportEntry(name: string, index: number): number[] {
  const text = new TextEncoder().encode(name);
  return [...encodeUnsigned(text.length), ...text, KIND.function, ...encodeUnsigned(index)];
}

function meterFunctions(
  section: Reader,
  out: Writer,
  options: { plans: readonly FunctionPlan[]; access: readonly AccessFunction[] },
): void {
  const { plans, access } = options;
  const count = section.unsigned();
  assert(count === plans.length, "every function has a body");
  out.unsigned(count + access.length);
  for (const plan of plans) out.appendSized(meterFunction(section.slice(section.unsigned()), plan));
  for (const { body } of access) {
    const noLocals = 0;
    out.unsigned(body.length + 1);
    out.append([noLocals, ...body]);
  }
}

function meterFunction(body: Reader, plan: FunctionPlan): Writer {
  const out = new Writer();
  const groups = body.unsigned();
  const groupsFrom = body.at;
  let locals = plan.parameters;
  for (let group = 0; group < groups; group += 1) {
    locals += body.unsigned();
    body.skip(1);
  }
  // One more local for every function is simpler than a first pass that finds the few which need it; the compiler drops it.
  out.unsigned(groups + 1);
  out.append(body.bytes.subarray(groupsFrom, body.at));
  out.byte(1, TYPE.i32);
  meterInstructions(body, out, { plan, scratch: locals });
  return out;
}

function meterInstructions(body: Reader, out: Writer, options: { plan: FunctionPlan; scratch: number }): void {
  const { counters, overhead } = options.plan;
  const whole = overhead === "all" ? counters.overhead : counters.fuel;
  let loops = 0;
  let copied = body.at;
  const insert = (at: number, charge: readonly number[]) => {
    out.append(body.bytes.subarray(copied, at));
    out.append(charge);
    copied = at;
  };
  insert(copied, whole.step);
  while (body.at < body.end) {
    const from = body.at;
    const opcode = body.byte();
    skipOperands(body, opcode);
    if (opcode === OP.loop) {
      loops += 1;
      insert(body.at, overhead !== "all" && overhead.includes(loops) ? counters.overhead.step : whole.step);
    } else if (opcode === OP.prefix && isBulk(body.bytes[from + 1]!)) {
      insert(from, whole.bulk(options.scratch));
    }
  }
  insert(body.end, []);
}

function isBulk(opcode: number): boolean {
  return opcode === PREFIXED.memoryCopy || opcode === PREFIXED.memoryFill;
}
