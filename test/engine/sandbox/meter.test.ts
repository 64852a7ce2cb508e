import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { meterModule, type MeterExports, type OverheadPoints } from "../../../src/engine/sandbox/quickjs/meter.ts";
import { OVERHEAD_POINTS } from "../../../src/engine/sandbox/quickjs/overhead-points.ts";
import { ENGINE_DIGEST, readEngineFile } from "../../../src/engine/sandbox/quickjs/wasm-file.ts";

/** Any change of the rewriter or of its table changes this, and with it possibly the fuel of every expression. */
const METERED_DIGEST = "0839576ec0922234eb47f208a5c56f2dffb55777565c076a98b315e2054e40fb";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("the metered engine", () => {
  let engine: Uint8Array<ArrayBuffer>;
  beforeAll(async () => {
    engine = await readEngineFile();
  });

  test("is made of the reviewed file, and always comes out the same", () => {
    expect(sha256(engine)).toBe(ENGINE_DIGEST);
    const once = meterModule(engine, OVERHEAD_POINTS);
    expect(sha256(once)).toBe(METERED_DIGEST);
    expect(sha256(meterModule(engine.slice(), new Map(OVERHEAD_POINTS)))).toBe(METERED_DIGEST);
    expect(() => new WebAssembly.Module(once)).not.toThrow();
  });

  test("has only functions and loops as overhead that the engine has", () => {
    expect(() => meterModule(engine, new Map([[221, [999]]]))).toThrow("a function has the loops of its overhead");
    expect(() => meterModule(engine, new Map([[99_999, "call"]]))).toThrow("the functions of the overhead exist: 99999");
  });

  test("cannot be made of anything else", () => {
    expect(() => meterModule(engine.slice(1))).toThrow("a WASM module of version 1");
    expect(() => meterModule(engine.slice(0, 20_000))).toThrow("Broken invariant");
  });
});

// Just enough of an assembler: bodies are lists of bytes.
const I32 = 0x7f;
const EMPTY = 0x40;
const END = [0x0b];
const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const constant = (value: number) => [0x41, value];
const sized = (bytes: readonly number[]) => [bytes.length, ...bytes];

interface Metered extends MeterExports {
  call(value: number): void;
}

/** A module with the one function `call(i32)`, metered and instantiated. */
function instantiate(body: readonly (readonly number[])[], overhead: OverheadPoints = new Map()): Metered {
  const types = [3, 0x60, 1, I32, 0, 0x60, 2, I32, I32, 0, 0x60, 0, 1, I32];
  const global = [1, I32, 0, 0x41, 0, 0x0b];
  const exported = [1, 4, 0x63, 0x61, 0x6c, 0x6c, 0, 0];
  const sections: [id: number, contents: number[]][] = [
    [1, types],
    [2, [0]],
    [3, [1, 0]],
    [5, [1, 0, 1]],
    [6, global],
    [7, exported],
    [10, [1, ...sized(body.flat())]],
  ];
  const bytes = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flatMap(([id, contents]) => [id, ...sized(contents)])];
  const module = new WebAssembly.Module(meterModule(Uint8Array.from(bytes), overhead));
  return new WebAssembly.Instance(module, {}).exports as unknown as Metered;
}

describe("a metered function", () => {
  /** A loop of as many turns as the argument says. */
  const countDown = [
    [...get(0), 0x45, 0x0d, 1],
    [...get(0), ...constant(1), 0x6b, ...set(0)],
    [0x0c, 0],
  ].flat();
  const count = [[0], [0x02, EMPTY, 0x03, EMPTY], countDown, END, END, END];

  test.each([
    { turns: 0, want: 2 },
    { turns: 1, want: 3 },
    { turns: 1000, want: 1002 },
  ])("takes a step for its entry and one for each of the $turns turns of its loop", ({ turns, want }) => {
    const { call, fuelLeft, refuel } = instantiate(count);
    refuel(100_000, 0);
    call(turns);
    expect(100_000 - fuelLeft()).toBe(want);
  });

  test("stops when fuel falls below zero, not at zero", () => {
    const { call, refuel } = instantiate(count);
    refuel(12, 0);
    expect(() => call(10)).not.toThrow();
    refuel(11, 0);
    expect(() => call(10)).toThrow("unreachable");
  });

  test("takes its steps from the overhead where the table says so", () => {
    const loop = instantiate(count, new Map([[0, [1]]]));
    loop.refuel(100, 100);
    loop.call(10);
    expect([loop.fuelLeft(), loop.overheadLeft()]).toEqual([99, 89]);
  });

  test("takes all its steps from the overhead where the table says so", () => {
    const { call, refuel, fuelLeft, overheadLeft } = instantiate(count, new Map([[0, "call" as const]]));
    refuel(100, 100);
    call(10);
    expect([fuelLeft(), overheadLeft()]).toEqual([100, 88]);
    // It needs no fuel, but overhead has an end as well.
    refuel(0, 12);
    expect(() => call(10)).not.toThrow();
    refuel(100, 11);
    expect(() => call(10)).toThrow("unreachable");
  });

  test.each([
    { instruction: "memory.fill", operands: [constant(0), constant(7), get(0), [0xfc, 11, 0]] },
    { instruction: "memory.copy", operands: [constant(0), constant(8), get(0), [0xfc, 10, 0, 0]] },
  ])("takes one step per 128 bytes of $instruction", ({ operands }) => {
    const { call, fuelLeft, refuel } = instantiate([[0], ...operands, END]);
    for (const [bytes, want] of [
      [0, 1],
      [127, 1],
      [128, 2],
      [12_800, 101],
      [65_000, 508],
    ] as const) {
      refuel(100_000, 0);
      call(bytes);
      expect(100_000 - fuelLeft()).toBe(want);
    }
    refuel(100, 0);
    expect(() => call(65_000)).toThrow("unreachable");
  });

  test("is refused when it has an instruction that the meter does not know", () => {
    expect(() => instantiate([[0], [0xfd, 0x0c, ...Array<number>(16).fill(0)], [0x1a], END])).toThrow("opcode 0xfd is known to the meter");
  });
});
