import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCoreKinds } from "../../../src/cluster/core-kinds.ts";
import { isReadable, ProtobufError, readProtobuf } from "../../../src/apiserver/http/body/protobuf.ts";
import {
  bool,
  bytes,
  int32,
  int64,
  intOrText,
  listOf,
  microTime,
  objectOf,
  opaque,
  optional,
  text,
  textMap,
  time,
} from "../../../src/schema/builders.ts";
import type { Schema } from "../../../src/schema/schema.ts";

import { createSeededChance } from "../seeded-chance.ts";

const varint = (value: number | bigint): Buffer => {
  let left = BigInt.asUintN(64, BigInt(value));
  const parts: number[] = [];
  do {
    parts.push(Number(left & 0x7fn) | (left > 0x7fn ? 0x80 : 0));
    left >>= 7n;
  } while (left > 0n);
  return Buffer.from(parts);
};
const number = (field: number, value: number | bigint) => Buffer.concat([varint(field * 8), varint(value)]);
const block = (field: number, content: Buffer | string) => Buffer.concat([varint(field * 8 + 2), varint(Buffer.byteLength(content)), Buffer.from(content)]); // prettier-ignore
const message = (...parts: Buffer[]) => Buffer.concat(parts);
const envelope = (raw: Buffer, type = message(block(1, "v1"), block(2, "It"))) =>
  Buffer.concat([Buffer.from("k8s\0"), block(1, type), block(2, raw), block(3, ""), block(4, "")]);

const shapeOf = (field: Schema) => objectOf({ field: [1, field] });
const read = (field: Schema, ...parts: Buffer[]) => readProtobuf(shapeOf(field), envelope(message(...parts)))["field"];

describe("objects in protobuf", () => {
  test.each([
    { why: "a text", shape: text, parts: [block(1, "grüße")], value: "grüße" },
    { why: "an empty text", shape: text, parts: [block(1, "")], value: "" },
    { why: "bytes", shape: bytes, parts: [block(1, Buffer.from([0, 255]))], value: "AP8=" },
    { why: "a number", shape: int32, parts: [number(1, 300)], value: 300 },
    { why: "a number below zero", shape: int64, parts: [number(1, -5)], value: -5 },
    { why: "true", shape: bool, parts: [number(1, 1)], value: true },
    { why: "false", shape: bool, parts: [number(1, 0)], value: false },
    { why: "a port by number", shape: intOrText, parts: [block(1, message(number(1, 0), number(2, 8080), block(3, "")))], value: 8080 },
    { why: "a port by name", shape: intOrText, parts: [block(1, message(number(1, 1), number(2, 0), block(3, "http")))], value: "http" },
    { why: "no time", shape: time, parts: [block(1, "")], value: null },
    {
      why: "a time",
      shape: microTime,
      parts: [block(1, message(number(1, 1_700_000_000), number(2, 5_000)))],
      value: "2023-11-14T22:13:20.000005Z",
    },
    { why: "a list", shape: listOf(text), parts: [block(1, "a"), block(1, "b")], value: ["a", "b"] },
    {
      why: "a map",
      shape: textMap,
      parts: [block(1, message(block(1, "a"), block(2, "1"))), block(1, block(1, "__proto__"))],
      value: Object.fromEntries([
        ["a", "1"],
        ["__proto__", ""],
      ]),
    },
    {
      why: "an object in an object, and unknown fields",
      shape: objectOf({ inner: [2, text] }),
      parts: [
        block(
          1,
          message(block(2, "x"), number(9, 1), block(200, "y"), Buffer.from([0x19, ...Array<number>(8)]), Buffer.from([0x1d, 0, 0, 0, 0])),
        ),
      ],
      value: { inner: "x" },
    },
  ])("tell $why", ({ shape, parts, value }) => {
    expect(read(shape, ...parts)).toEqual(value);
  });

  test("say their type in the envelope", () => {
    expect(readProtobuf(shapeOf(text), envelope(block(1, "x")))).toEqual({ apiVersion: "v1", kind: "It", field: "x" });
  });

  describe("within what is opaque", () => {
    const inner = objectOf({ count: [1, optional(int32)], name: [2, text], of: [3, objectOf({ a: [1, text] })] }); // prettier-ignore
    const opened = (...parts: Buffer[]) => read(opaque({}, inner), block(1, message(...parts)));

    test("what says nothing is passed over, and what may be zero stays", () => {
      const blank = [number(9, 0), block(10, ""), block(2, ""), number(1, 0), block(3, message(block(1, ""), number(7, 0)))];
      expect(opened(...blank)).toEqual({ count: 0, of: {} });
    });

    test("items of lists stay, also empty ones", () => {
      const lists = objectOf({ command: [1, listOf(text)], labels: [2, textMap] });
      const parts = [block(1, "sh"), block(1, ""), block(2, ""), block(1, "-c")];
      expect(read(opaque({}, lists), block(1, message(...parts)))).toEqual({ command: ["sh", "", "-c"], labels: { "": "" } });
    });

    test.each([
      { why: "a field without a number", parts: [number(9, 1)] },
      { why: "one further down", parts: [block(3, message(block(1, "x"), block(2, "y")))] },
    ])("$why is refused, since it would be lost", ({ parts }) => {
      expect(() => opened(...parts)).toThrow(/^field [29] cannot be read here: send the object as JSON$/);
    });

    test("nothing is read where nothing is known", () => {
      expect(read(opaque({}), block(1, number(4, 0)))).toEqual({});
      expect(() => read(opaque({}), block(1, number(4, 1)))).toThrow(ProtobufError);
    });
  });

  test.each([
    { why: "without the magic bytes", body: Buffer.from("{}") },
    { why: "that end within a field", body: envelope(Buffer.from([0x0a, 5, 1])) },
    { why: "with a number that has no end", body: envelope(Buffer.from([0x08, ...Array<number>(12).fill(0xff)])) },
    { why: "with a field of an unknown type", body: envelope(Buffer.from([0x0b])) },
    { why: "with a number where a text belongs", body: envelope(number(1, 5)) },
  ])("$why are refused", ({ body }) => {
    expect(() => readProtobuf(shapeOf(text), body)).toThrow(ProtobufError);
  });

  test("whatever the bytes are, they are read or refused", () => {
    const shapes = createCoreKinds(createSeededChance())
      .map(({ shape }) => shape)
      .filter(isReadable);
    expect(shapes.length).toBeGreaterThanOrEqual(9);
    fc.assert(
      fc.property(fc.constantFrom(...shapes), fc.uint8Array({ maxLength: 40 }), (shape, raw) => {
        try {
          expect(readProtobuf(shape, envelope(Buffer.from(raw)))).toBeTypeOf("object");
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
