/**
 * Rewrites the engine's WASM module so that it counts its own steps.
 *
 * Guarantees:
 * - Every function entry and every iteration of every loop takes one step; bulk memory instructions take one more per 128 bytes. The
 *   size of the module limits the code between two such points, so steps limit time, even inside native loops that never check an
 *   interrupt handler.
 * - When a counter falls below zero the instance traps. WASM has no way to catch a trap, so no guest code can.
 * - The same evaluation takes the same fuel on every platform and after any earlier evaluations. Steps whose number depends on earlier
 *   evaluations (through the state of the free list, or other entries in the same hash chain) have a counter of their own, "overhead",
 *   which limits them like fuel but is not reported.
 *
 * The counters are globals outside the module's memory, so corrupted memory cannot change them.
 *
 * @module
 */
import { assert } from "../../../base/errors.ts";
import { LOAN_BITS, STEPS_MAX, createCounters, meterFunction } from "./meter-function.ts";
import { KIND, OP, Reader, SECTION, TYPE, ByteWriter, encodeUnsigned, readSections, startModule, type Section } from "./wasm-format.ts";

/**
 * Functions that the rewriting adds and exports. (They are several times as fast as the interface of an exported global.)
 *
 * `refuel(fuel, overhead)` sets both counters, each to {@link STEPS_MAX} at most; `fuelLeft()` and `overheadLeft()` return them.
 */
export interface MeterExports {
  refuel(fuel: number, overhead: number): void;
  fuelLeft(): number;
  overheadLeft(): number;
}

/**
 * Code that counts as overhead, by number of function: "call" covers everything from the entry of the function to its return, including
 * all that it calls; a list contains loops of the function itself, numbered from 1 in the order of its code.
 */
export type OverheadPoints = ReadonlyMap<number, "call" | readonly number[]>;

/** The steps left, from the value of `fuelLeft()`, even if the instance trapped inside a call that counts as overhead. */
export function stepsLeft(fuelLeft: number): number {
  return fuelLeft > STEPS_MAX ? fuelLeft - 2 ** LOAN_BITS : fuelLeft;
}

/** A function that the rewriting adds: the number of its type, and its body. */
interface AddedFunction {
  readonly type: number;
  readonly body: ArrayLike<number>;
  /** Name of the export, if it is exported. */
  readonly name?: keyof MeterExports;
}

/** The bodies of the module's own functions, and the functions that are added after them. */
interface Rewritten {
  readonly bodies: readonly ArrayLike<number>[];
  readonly added: readonly AddedFunction[];
  readonly firstAdded: number;
}

/**
 * Adds the counters to a module. The same input gives the same output.
 *
 * @throws INTERNAL when the module uses a part of the format that the meter does not know.
 */
export function meterModule(bytes: Uint8Array, overheadPoints: OverheadPoints = new Map()): Uint8Array<ArrayBuffer> {
  const sections = readSections(bytes);
  const rewritten = rewriteFunctions(sections, overheadPoints);
  const module = startModule();
  for (const section of sections) {
    module.byte(section.id);
    module.appendSized(rewriteSection(section, rewritten));
  }
  return module.bytes();
}

function rewriteSection({ id, contents }: Section, { bodies, added, firstAdded }: Rewritten): ByteWriter {
  const part = new ByteWriter();
  const copy = restart(contents);
  if (id === SECTION.global) {
    appendItems(copy, part, [COUNTER, COUNTER]);
  } else if (id === SECTION.function) {
    const types = added.map(({ type }) => encodeUnsigned(type));
    appendItems(copy, part, types);
  } else if (id === SECTION.export) {
    const entries = added.flatMap(({ name }, index) => (name === undefined ? [] : [exportEntry(name, firstAdded + index)]));
    appendItems(copy, part, entries);
  } else if (id === SECTION.code) {
    const all = [...bodies, ...added.map(({ body }) => body)];
    part.unsigned(all.length);
    for (const body of all) {
      part.unsigned(body.length);
      part.append(body);
    }
  } else {
    part.append(copy.bytes.subarray(copy.at, copy.end));
  }
  return part;
}

function rewriteFunctions(sections: readonly Section[], overheadPoints: OverheadPoints): Rewritten {
  const firstGlobal = find(sections, SECTION.global).unsigned();
  const counters = createCounters(firstGlobal);
  const imported = countImportedFunctions(sections);
  const types = readTypes(sections);
  const functionTypes = readFunctionTypes(sections);
  const firstAdded = imported + functionTypes.length;
  const unknown = [...overheadPoints.keys()].filter((index) => index < imported || index >= firstAdded);
  assert(unknown.length === 0, `the functions of the overhead exist: ${unknown.join(", ")}`);

  const code = find(sections, SECTION.code);
  assert(code.unsigned() === functionTypes.length, "every function has a body");
  const added: AddedFunction[] = [];
  const bodies = functionTypes.map((type, index) => {
    const parameters = types[type]!.parameters.length;
    const overhead = overheadPoints.get(imported + index) ?? [];
    const overheadLoops = overhead === "call" ? [] : overhead;
    const body = meterFunction(code.slice(code.unsigned()), { counters, parameters, overheadLoops });
    if (overhead !== "call") return body;
    // The function that counts the call gets the original function's number, which tables and calls use.
    added.push({ type, body });
    return counters.callAsOverhead(firstAdded + added.length - 1, parameters);
  });
  return { bodies, added: [...added, ...createAccess(firstGlobal, types)], firstAdded };
}

function restart(reader: Reader): Reader {
  return new Reader(reader.bytes, reader.at, reader.end);
}

function find(sections: readonly Section[], id: number): Reader {
  const section = sections.find((candidate) => candidate.id === id);
  assert(section !== undefined, `the engine has section ${id}`);
  return restart(section.contents);
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
    const kind = imports.byte();
    if (kind === KIND.function) functions += 1;
    else assert(kind === KIND.memory, "the engine imports functions and a memory");
    const hasMaximum = kind === KIND.memory && imports.byte() === 1;
    imports.skipNumber();
    if (hasMaximum) imports.skipNumber();
  }
  return functions;
}

/**
 * A counter as an item of the section of globals. Its initial value is the maximum, because an instance's start function runs before the
 * counter can be set. The encoding of the number is also its signed encoding, because its last byte is below 0x40.
 */
const MUTABLE = 1;
const COUNTER = [TYPE.i32, MUTABLE, OP.i32Const, ...encodeUnsigned(STEPS_MAX), OP.end];

function createAccess(firstGlobal: number, types: readonly FunctionType[]): AddedFunction[] {
  const fuel = encodeUnsigned(firstGlobal);
  const overhead = encodeUnsigned(firstGlobal + 1);
  const typeOf = (parameters: number, results: number) => {
    const index = types.findIndex((type) => {
      return type.parameters.length === parameters && type.results.length === results && [...type.parameters, ...type.results].every(isI32);
    });
    assert(index >= 0, `the engine has a function with ${parameters} parameters and ${results} results`);
    return index;
  };
  const noLocals = 0;
  const get = (counter: readonly number[]) => [noLocals, OP.globalGet, ...counter, OP.end];
  const setBoth = [noLocals, OP.localGet, 0, OP.globalSet, ...fuel, OP.localGet, 1, OP.globalSet, ...overhead, OP.end];
  return [
    { name: "refuel", type: typeOf(2, 0), body: setBoth },
    { name: "fuelLeft", type: typeOf(0, 1), body: get(fuel) },
    { name: "overheadLeft", type: typeOf(0, 1), body: get(overhead) },
  ];
}

function isI32(type: number): boolean {
  return type === TYPE.i32;
}

/** Copies a list of items and appends more. */
function appendItems(section: Reader, out: ByteWriter, items: readonly (readonly number[])[]): void {
  out.unsigned(section.unsigned() + items.length);
  out.append(section.bytes.subarray(section.at, section.end));
  for (const item of items) out.append(item);
}

function exportEntry(name: string, index: number): number[] {
  const text = new TextEncoder().encode(name);
  return [...encodeUnsigned(text.length), ...text, KIND.function, ...encodeUnsigned(index)];
}
