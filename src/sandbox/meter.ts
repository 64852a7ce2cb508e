/**
 * Rewrites the engine's WASM module so that it counts its own steps.
 *
 * Guarantees:
 * - Every function entry and every turn of every loop takes one unit of fuel; bulk memory instructions take one more per 128
 *   bytes. Code between two such points is bounded by the size of the module, so fuel bounds time, also inside native loops
 *   that never ask an interrupt handler.
 * - When fuel falls below zero the instance traps. WASM has no way to catch a trap, so no guest code can.
 * - The same run takes the same fuel on every machine: it is a count, not a clock.
 *
 * The counter is a global of its own, out of reach of the module's memory: corrupted memory can not refuel.
 *
 * @module
 */
import { assert } from "../base/errors.ts";
import { OP, PREFIXED, Reader, SECTION, TYPE, Writer, encodeUnsigned, readSections, skipOperands, startModule } from "./wasm-format.ts";
import type { Section } from "./wasm-format.ts";

/** Name of the exported counter. It is longer than any name that the engine's build gives. */
export const FUEL_EXPORT = "endpoint-sync:fuel";

/** Fuel of a new instance, whose start function runs before anybody can set it: 2 ** 30. */
export const INITIAL_FUEL = 1_073_741_824;

/** How many bytes a bulk memory instruction handles for one unit of fuel, as a power of two. */
const BULK_SHIFT = 7;

/** What is written into every function. */
interface Charges {
  /** Takes one unit, traps below zero. */
  readonly step: readonly number[];
  /** Takes the units of a length that lies on the stack and stays there, by way of the local `scratch`. */
  bulk(scratch: number): readonly number[];
}

/**
 * The module with its meter. Equal bytes in, equal bytes out.
 *
 * @throws INTERNAL when the module uses a part of the format that the meter does not know.
 */
export function meterModule(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const sections = readSections(bytes);
  const parameterCounts = readParameterCounts(sections);
  const fuelGlobal = find(sections, SECTION.global).unsigned();
  const charges = createCharges(fuelGlobal);

  const module = startModule();
  for (const { id, contents } of sections) {
    const part = new Writer();
    const copy = new Reader(contents.bytes, contents.at, contents.end);
    if (id === SECTION.global) addFuelGlobal(copy, part);
    else if (id === SECTION.export) addFuelExport(copy, part, fuelGlobal);
    else if (id === SECTION.code) meterFunctions(copy, part, { charges, parameterCounts });
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

/** Number of parameters of each function with a body: the locals of a body are numbered behind them. */
function readParameterCounts(sections: readonly Section[]): number[] {
  const types = find(sections, SECTION.type);
  const byType = Array.from({ length: types.unsigned() }, () => {
    types.skip(1);
    const parameters = types.unsigned();
    types.skip(parameters);
    types.skip(types.unsigned());
    return parameters;
  });
  const functions = find(sections, SECTION.function);
  return Array.from({ length: functions.unsigned() }, () => byType[functions.unsigned()]!);
}

function createCharges(fuelGlobal: number): Charges {
  const global = encodeUnsigned(fuelGlobal);
  const get = [OP.globalGet, ...global];
  const set = [OP.globalSet, ...global];
  const trapBelowZero = [...get, OP.i32Const, 0, OP.i32LessSigned, OP.if, TYPE.empty, OP.unreachable, OP.end];
  return {
    step: [...get, OP.i32Const, 1, OP.i32Subtract, ...set, ...trapBelowZero],
    bulk(scratch) {
      const local = encodeUnsigned(scratch);
      const units = [OP.localGet, ...local, OP.i32Const, BULK_SHIFT, OP.i32ShiftRightUnsigned];
      return [OP.localTee, ...local, ...get, ...units, OP.i32Subtract, ...set, ...trapBelowZero].flat();
    },
  };
}

function addFuelGlobal(section: Reader, out: Writer): void {
  out.unsigned(section.unsigned() + 1);
  out.append(section.bytes.subarray(section.at, section.end));
  const mutable = 1;
  // A positive number below 2 ** 34 has the same signed and unsigned encoding when its fifth byte is below 0x40.
  out.byte(TYPE.i32, mutable, OP.i32Const, ...encodeUnsigned(INITIAL_FUEL), OP.end);
}

function addFuelExport(section: Reader, out: Writer, fuelGlobal: number): void {
  out.unsigned(section.unsigned() + 1);
  out.append(section.bytes.subarray(section.at, section.end));
  const name = new TextEncoder().encode(FUEL_EXPORT);
  out.unsigned(name.length);
  out.append(name);
  const kindGlobal = 3;
  out.byte(kindGlobal);
  out.unsigned(fuelGlobal);
}

function meterFunctions(section: Reader, out: Writer, options: { charges: Charges; parameterCounts: readonly number[] }): void {
  const count = section.unsigned();
  assert(count === options.parameterCounts.length, "every function has a body");
  out.unsigned(count);
  for (const parameters of options.parameterCounts) {
    const body = section.slice(section.unsigned());
    out.appendSized(meterFunction(body, { charges: options.charges, parameters }));
  }
}

function meterFunction(body: Reader, options: { charges: Charges; parameters: number }): Writer {
  const out = new Writer();
  const groups = body.unsigned();
  const groupsFrom = body.at;
  let locals = options.parameters;
  for (let group = 0; group < groups; group += 1) {
    locals += body.unsigned();
    body.skip(1);
  }
  // One more local for every function is cheaper to read than a first pass that finds the few which need it; the compiler drops it.
  out.unsigned(groups + 1);
  out.append(body.bytes.subarray(groupsFrom, body.at));
  out.byte(1, TYPE.i32);
  out.append(options.charges.step);
  meterInstructions(body, out, { charges: options.charges, scratch: locals });
  return out;
}

function meterInstructions(body: Reader, out: Writer, options: { charges: Charges; scratch: number }): void {
  const { charges, scratch } = options;
  let copied = body.at;
  const copyUpTo = (at: number) => {
    out.append(body.bytes.subarray(copied, at));
    copied = at;
  };
  while (body.at < body.end) {
    const from = body.at;
    const opcode = body.byte();
    skipOperands(body, opcode);
    if (opcode === OP.loop) {
      copyUpTo(body.at);
      out.append(charges.step);
    } else if (opcode === OP.prefix && isBulk(body.bytes[from + 1]!)) {
      copyUpTo(from);
      out.append(charges.bulk(scratch));
    }
  }
  copyUpTo(body.end);
}

function isBulk(opcode: number): boolean {
  return opcode === PREFIXED.memoryCopy || opcode === PREFIXED.memoryFill;
}
