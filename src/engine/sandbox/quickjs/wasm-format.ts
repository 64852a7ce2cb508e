/**
 * Reads and writes the parts of the WebAssembly binary format that the meter needs.
 *
 * The instruction table covers what the engine's module uses. An unknown opcode stops the rewriting, because a wrong length of one
 * instruction would shift all following ones.
 *
 * @module
 */
import { assert } from "../../../base/errors.ts";

/** Section numbers of the binary format. */
export const SECTION = {
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
} as const;

/** The opcodes that the meter looks for or writes. */
export const OP = {
  unreachable: 0x00,
  loop: 0x03,
  if: 0x04,
  end: 0x0b,
  call: 0x10,
  localGet: 0x20,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  i32Const: 0x41,
  i32LessSigned: 0x48,
  i32Add: 0x6a,
  i32Subtract: 0x6b,
  i32ShiftLeft: 0x74,
  i32ShiftRightUnsigned: 0x76,
  prefix: 0xfc,
} as const;

/** The second byte of instructions that begin with {@link OP}.prefix. */
export const PREFIXED = { memoryCopy: 10, memoryFill: 11 } as const;

/** Kinds of imports and exports. */
export const KIND = { function: 0, memory: 2, global: 3 } as const;

/** Value type and block type bytes. */
export const TYPE = { i32: 0x7f, empty: 0x40 } as const;

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/** A cursor over bytes. */
export class Reader {
  readonly bytes: Uint8Array;
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  byte(): number {
    assert(this.at < this.end, "the WASM module ends inside an item");
    return this.bytes[this.at++]!;
  }

  /** An unsigned LEB128 number of up to 32 bits. */
  unsigned(): number {
    let result = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      result += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return result;
    }
  }

  /** Skips a LEB128 number of any width and sign. */
  skipNumber(): void {
    while (this.byte() >= 0x80);
  }

  skip(count: number): void {
    this.at += count;
    assert(this.at <= this.end, "the WASM module ends inside an item");
  }

  /** Returns a cursor over the next `length` bytes, and moves this one past them. */
  slice(length: number): Reader {
    const from = this.at;
    this.skip(length);
    return new Reader(this.bytes, from, this.at);
  }
}

/** A growable buffer of bytes. */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  byte(...values: number[]): void {
    this.append(values);
  }

  unsigned(value: number): void {
    this.append(encodeUnsigned(value));
  }

  append(values: ArrayLike<number>): void {
    while (this.#length + values.length > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(values, this.#length);
    this.#length += values.length;
  }

  /** Appends the length of `part` and its bytes, as the format requires for sections and function bodies. */
  appendSized(part: ByteWriter): void {
    this.unsigned(part.#length);
    this.append(part.bytes());
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }
}

/** `value` as unsigned LEB128. */
export function encodeUnsigned(value: number): number[] {
  const bytes = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) bytes.push((value % 0x80) + 0x80);
  return [...bytes, value];
}

/** A section of a module: its number and a cursor over its contents. */
export interface Section {
  readonly id: number;
  readonly contents: Reader;
}

/** The sections of a module, in file order. */
export function readSections(bytes: Uint8Array): Section[] {
  assert(
    HEADER.every((byte, index) => bytes[index] === byte),
    "the engine is a WASM module of version 1",
  );
  const reader = new Reader(bytes, HEADER.length);
  const sections = [];
  while (reader.at < reader.end) {
    const id = reader.byte();
    sections.push({ id, contents: reader.slice(reader.unsigned()) });
  }
  return sections;
}

/** An empty module, ready for its sections. */
export function startModule(): ByteWriter {
  const writer = new ByteWriter();
  writer.append(HEADER);
  return writer;
}

/** Moves `reader` past the operands of the instruction `opcode`. */
export function skipOperands(reader: Reader, opcode: number): void {
  const operands = operandsOf(opcode);
  assert(operands !== undefined, `opcode 0x${opcode.toString(16)} is known to the meter`);
  operands(reader);
}

type SkipOperands = (reader: Reader) => void;

const none: SkipOperands = () => undefined;
const one: SkipOperands = (reader) => reader.skipNumber();
const two: SkipOperands = (reader) => {
  reader.skipNumber();
  reader.skipNumber();
};

function operandsOf(opcode: number): SkipOperands | undefined {
  if (opcode >= 0x45 && opcode <= 0xc4) return none;
  if (opcode >= 0x28 && opcode <= 0x3e) return two;
  return OPERANDS[opcode];
}

const OPERANDS: Readonly<Record<number, SkipOperands>> = {
  0x00: none,
  0x01: none,
  0x02: one,
  0x03: one,
  0x04: one,
  0x05: none,
  0x0b: none,
  0x0c: one,
  0x0d: one,
  0x0e: skipBranchTable,
  0x0f: none,
  0x10: one,
  0x11: two,
  0x1a: none,
  0x1b: none,
  0x1c: skipTypedSelect,
  0x20: one,
  0x21: one,
  0x22: one,
  0x23: one,
  0x24: one,
  0x3f: one,
  0x40: one,
  0x41: one,
  0x42: one,
  0x43: (reader) => reader.skip(4),
  0x44: (reader) => reader.skip(8),
  0xfc: skipPrefixed,
};

function skipBranchTable(reader: Reader): void {
  for (let labels = reader.unsigned() + 1; labels > 0; labels -= 1) reader.skipNumber();
}

function skipTypedSelect(reader: Reader): void {
  reader.skip(reader.unsigned());
}

/** Conversions that saturate have no operand; `memory.copy` has two memories, `memory.fill` one. */
function skipPrefixed(reader: Reader): void {
  const opcode = reader.unsigned();
  assert(opcode <= 7 || opcode === PREFIXED.memoryCopy || opcode === PREFIXED.memoryFill, `opcode 0xfc ${opcode} is known to the meter`);
  if (opcode === PREFIXED.memoryCopy) reader.skip(2);
  if (opcode === PREFIXED.memoryFill) reader.skip(1);
}
