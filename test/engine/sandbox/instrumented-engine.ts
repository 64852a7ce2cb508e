/**
 * The engine with a counter at every point that the meter would charge: at each function's entry and at each turn of each loop.
 * The counters stand still inside calls that count as overhead as a whole.
 */
import {
  KIND,
  OP,
  Reader,
  SECTION,
  TYPE,
  ByteWriter,
  encodeUnsigned,
  readSections,
  skipOperands,
  startModule,
} from "../../../src/engine/sandbox/quickjs/wasm-format.ts";
import type { OverheadPoints } from "../../../src/engine/sandbox/quickjs/meter.ts";

/** A function's entry (loop 0) or one of its loops, numbered as the table of overhead points numbers them. */
export interface Point {
  readonly function: number;
  readonly loop: number;
}

export interface InstrumentedEngine {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly points: readonly Point[];
}

/** Name under which the counter of point `index` is exported. */
export function counterName(index: number): string {
  return `point:${index}`;
}

const EQUALS_ZERO = 0x45;
const COUNTER = [TYPE.i32, 1, OP.i32Const, 0, OP.end];

interface Plan {
  /** The global that is above zero inside calls that count as overhead; the counters follow it. */
  readonly depth: number;
  readonly imported: number;
  readonly parameters: readonly number[];
  readonly types: readonly number[];
  readonly overhead: OverheadPoints;
}

/** Rewrites `bytes`, whose first `imported` functions are imports. */
export function instrumentEngine(bytes: Uint8Array, options: { imported: number; overhead: OverheadPoints }): InstrumentedEngine {
  const sections = readSections(bytes);
  const open = (id: number) => {
    const { contents } = sections.find((section) => section.id === id)!;
    return new Reader(contents.bytes, contents.at, contents.end);
  };
  const types = readNumbers(open(SECTION.function));
  const plan: Plan = { ...options, types, parameters: readParameterCounts(open(SECTION.type)), depth: open(SECTION.global).unsigned() };
  const points: Point[] = [];
  const { bodies, added } = rewriteBodies(open(SECTION.code), plan, points);

  const module = startModule();
  for (const { id } of sections) {
    const section = open(id);
    const part = new ByteWriter();
    if (id === SECTION.global) append(section, part, [COUNTER, ...points.map(() => COUNTER)]);
    else if (id === SECTION.function) append(section, part, added.map(encodeUnsigned));
    else if (id === SECTION.export)
      append(
        section,
        part,
        points.map((_, index) => exportOf(counterName(index), plan.depth + 1 + index)),
      );
    else if (id === SECTION.code) appendBodies(part, bodies);
    else part.append(section.bytes.subarray(section.at, section.end));
    module.byte(id);
    module.appendSized(part);
  }
  return { bytes: module.bytes(), points };
}

function readNumbers(reader: Reader): number[] {
  return Array.from({ length: reader.unsigned() }, () => reader.unsigned());
}

function readParameterCounts(types: Reader): number[] {
  return Array.from({ length: types.unsigned() }, () => {
    types.skip(1);
    const count = types.unsigned();
    types.skip(count);
    types.skip(types.unsigned());
    return count;
  });
}

function rewriteBodies(code: Reader, plan: Plan, points: Point[]): { bodies: ArrayLike<number>[]; added: number[] } {
  const count = code.unsigned();
  const own: ArrayLike<number>[] = [];
  const moved: { type: number; body: ArrayLike<number> }[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = rewriteBody(code.slice(code.unsigned()), { plan, points, number: plan.imported + index });
    if (plan.overhead.get(plan.imported + index) === "call") {
      moved.push({ type: plan.types[index]!, body });
      own.push(callDeeper(plan, { inner: plan.imported + count + moved.length - 1, parameters: plan.parameters[plan.types[index]!]! }));
    } else {
      own.push(body);
    }
  }
  return { bodies: [...own, ...moved.map(({ body }) => body)], added: moved.map(({ type }) => type) };
}

function rewriteBody(body: Reader, { plan, points, number }: { plan: Plan; points: Point[]; number: number }): Uint8Array {
  const out = new ByteWriter();
  let copied = body.at;
  const count = (loop: number) => {
    out.append(body.bytes.subarray(copied, body.at));
    copied = body.at;
    points.push({ function: number, loop });
    const counter = encodeUnsigned(plan.depth + points.length);
    out.append([OP.globalGet, ...encodeUnsigned(plan.depth), EQUALS_ZERO, OP.globalGet, ...counter, OP.i32Add, OP.globalSet, ...counter]);
  };
  for (let groups = body.unsigned(); groups > 0; groups -= 1) {
    body.skipNumber();
    body.skip(1);
  }
  count(0);
  for (let loops = 0; body.at < body.end;) {
    const opcode = body.byte();
    skipOperands(body, opcode);
    if (opcode === OP.loop) count((loops += 1));
  }
  out.append(body.bytes.subarray(copied, body.end));
  return out.bytes();
}

function callDeeper(plan: Plan, { inner, parameters }: { inner: number; parameters: number }): number[] {
  const depth = encodeUnsigned(plan.depth);
  const change = (operation: number) => [OP.globalGet, ...depth, OP.i32Const, 1, operation, OP.globalSet, ...depth];
  const given = Array.from({ length: parameters }, (_, index) => [OP.localGet, ...encodeUnsigned(index)]).flat();
  const noLocals = 0;
  return [noLocals, ...change(OP.i32Add), ...given, OP.call, ...encodeUnsigned(inner), ...change(OP.i32Subtract), OP.end];
}

function append(section: Reader, out: ByteWriter, items: readonly (readonly number[])[]): void {
  out.unsigned(section.unsigned() + items.length);
  out.append(section.bytes.subarray(section.at, section.end));
  for (const item of items) out.append(item);
}

function appendBodies(out: ByteWriter, bodies: readonly ArrayLike<number>[]): void {
  out.unsigned(bodies.length);
  for (const body of bodies) {
    out.unsigned(body.length);
    out.append(body);
  }
}

function exportOf(name: string, index: number): number[] {
  const text = new TextEncoder().encode(name);
  return [...encodeUnsigned(text.length), ...text, KIND.global, ...encodeUnsigned(index)];
}
