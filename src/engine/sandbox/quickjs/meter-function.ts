/**
 * Rewrites the body of one function so that its steps are subtracted from the counters.
 *
 * @module
 */
import { assert } from "../../../base/errors.ts";
import { OP, PREFIXED, TYPE, ByteWriter, encodeUnsigned, skipOperands, type Reader } from "./wasm-format.ts";

/** Number of bytes that a bulk memory instruction handles per step, as a power of two. */
const BULK_SHIFT = 7;

/** Maximum value that a counter is set to; see {@link Counters.callAsOverhead}. */
export const STEPS_MAX = 2 ** 29 - 1;

/** Added to the fuel during a call that counts as overhead, as a power of two: the call must not run out of fuel. */
export const LOAN_BITS = 30;

/** Code that is inserted at the points of one counter. */
interface Charges {
  /** Subtracts one step, and traps below zero. */
  readonly step: readonly number[];
  /** Subtracts the steps of a length that is on the stack and stays there. Uses the local `scratch`. */
  bulk(scratch: number): readonly number[];
}

/** The two counters, as code. */
export interface Counters {
  readonly fuel: Charges;
  readonly overhead: Charges;
  /**
   * The body of a function that calls `inner` with its own parameters and subtracts the steps of that call from the overhead. During the
   * call, the fuel is above {@link STEPS_MAX}; a call inside such a call adds nothing to the fuel again.
   */
  callAsOverhead(inner: number, parameters: number): readonly number[];
}

/** One function before it is rewritten. */
export interface FunctionPlan {
  readonly counters: Counters;
  readonly parameters: number;
  /** Loops that count as overhead, by number from 1. */
  readonly overheadLoops: readonly number[];
}

/** Generates the code for two counters, which are the globals `first` and `first + 1`. */
export function createCounters(first: number): Counters {
  const fuel = access(first);
  const overhead = access(first + 1);
  return {
    fuel: createCharges(fuel),
    overhead: createCharges(overhead),
    callAsOverhead(inner, parameters) {
      const saved = encodeUnsigned(parameters);
      const limit = encodeUnsigned(STEPS_MAX + 1);
      const loan = [OP.localGet, ...saved, OP.i32Const, ...limit, OP.i32LessSigned, OP.i32Const, LOAN_BITS, OP.i32ShiftLeft, OP.i32Add];
      const given = Array.from({ length: parameters }, (_, index) => [OP.localGet, ...encodeUnsigned(index)]).flat();
      const code = [
        [...fuel.get, OP.localTee, ...saved, ...loan, ...fuel.set],
        [...given, OP.call, ...encodeUnsigned(inner)],
        [...overhead.get, OP.localGet, ...saved, ...loan, OP.i32Subtract, ...fuel.get, OP.i32Add, ...overhead.set],
        [OP.localGet, ...saved, ...fuel.set],
        trapBelowZero(overhead),
      ];
      const oneLocal = [1, 1, TYPE.i32];
      return [...oneLocal, ...code.flat(), OP.end];
    },
  };
}

interface CounterAccess {
  readonly get: readonly number[];
  readonly set: readonly number[];
}

function access(global: number): CounterAccess {
  const index = encodeUnsigned(global);
  return { get: [OP.globalGet, ...index], set: [OP.globalSet, ...index] };
}

function trapBelowZero({ get }: CounterAccess): number[] {
  return [...get, OP.i32Const, 0, OP.i32LessSigned, OP.if, TYPE.empty, OP.unreachable, OP.end];
}

function createCharges(counter: CounterAccess): Charges {
  const { get, set } = counter;
  return {
    step: [...get, OP.i32Const, 1, OP.i32Subtract, ...set, ...trapBelowZero(counter)],
    bulk(scratch) {
      const local = encodeUnsigned(scratch);
      const steps = [OP.localGet, ...local, OP.i32Const, BULK_SHIFT, OP.i32ShiftRightUnsigned];
      return [OP.localTee, ...local, ...get, ...steps, OP.i32Subtract, ...set, ...trapBelowZero(counter)];
    },
  };
}

/** Returns the body of a function with the instructions that count its steps. */
export function meterFunction(body: Reader, plan: FunctionPlan): Uint8Array {
  const out = new ByteWriter();
  const groups = body.unsigned();
  const groupsFrom = body.at;
  let locals = plan.parameters;
  for (let group = 0; group < groups; group += 1) {
    locals += body.unsigned();
    body.skip(1);
  }
  // One more local for every function is simpler than a first pass that finds the few that need it; the compiler drops it.
  out.unsigned(groups + 1);
  out.append(body.bytes.subarray(groupsFrom, body.at));
  out.byte(1, TYPE.i32);
  meterInstructions(body, out, { plan, scratch: locals });
  return out.bytes();
}

function meterInstructions(body: Reader, out: ByteWriter, { plan, scratch }: { plan: FunctionPlan; scratch: number }): void {
  const { counters, overheadLoops } = plan;
  let loops = 0;
  let copied = body.at;
  const insert = (at: number, charge: readonly number[]) => {
    out.append(body.bytes.subarray(copied, at));
    out.append(charge);
    copied = at;
  };
  insert(copied, counters.fuel.step);
  while (body.at < body.end) {
    const from = body.at;
    const opcode = body.byte();
    skipOperands(body, opcode);
    if (opcode === OP.loop) {
      loops += 1;
      insert(body.at, overheadLoops.includes(loops) ? counters.overhead.step : counters.fuel.step);
    } else if (opcode === OP.prefix && isBulk(body.bytes[from + 1]!)) {
      insert(from, counters.fuel.bulk(scratch));
    }
  }
  insert(body.end, []);
  assert(
    overheadLoops.every((loop) => loop <= loops),
    "a function has the loops of its overhead",
  );
}

function isBulk(opcode: number): boolean {
  return opcode === PREFIXED.memoryCopy || opcode === PREFIXED.memoryFill;
}
