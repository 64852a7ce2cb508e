/**
 * Reads objects in Kubernetes' binary form (protobuf) if their shapes contain the field numbers. Objects are never written in this form,
 * because every client that sends it also accepts JSON.
 *
 * @module
 */
import type { JsonObject } from "../../../base/json.ts";
import { bytes, objectOf, optional, text } from "../../../schema/builders.ts";
import type { ObjectSchema, Schema, StringSchema } from "../../../schema/schema.ts";

/** The media type of the binary form. */
export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";

/** The error for bytes that are not an object in binary form. */
export class ProtobufError extends Error {
  override readonly name = "ProtobufError";
}

const MAGIC = Buffer.from("k8s\0");

/** Reports whether objects of a shape can be read from the binary form. */
export function isReadable({ fields }: ObjectSchema): boolean {
  return Object.values(fields).some(({ number }) => number !== undefined);
}

/**
 * Reads an object from its binary form: the magic bytes, then an envelope with the type and the encoded object. Unknown fields are skipped,
 * except in opaque parts, where unknown fields with content are refused.
 *
 * @throws ProtobufError when the bytes do not have this form.
 * @example
 * readProtobuf(shape, bytes); // { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }
 */
export function readProtobuf(shape: ObjectSchema, bytes: Buffer): JsonObject {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new ProtobufError("the body does not begin with the prefix of a protobuf object");
  const { typeMeta, raw } = readMessage(ENVELOPE, bytes.subarray(MAGIC.length));
  const object = readMessage(shape, Buffer.from((raw as string | undefined) ?? "", "base64"));
  return { ...object, ...(typeMeta as JsonObject | undefined) };
}

const TYPE_META = objectOf({ apiVersion: [1, optional(text)], kind: [2, optional(text)] });
const ENVELOPE = objectOf({ typeMeta: [1, TYPE_META], raw: [2, optional(bytes)] });

const NOTHING = objectOf({});

/** The content of an encoded field: a number, or bytes. */
type Wire = bigint | Buffer;

function readMessage({ fields }: ObjectSchema, bytes: Buffer, { whole = false } = {}): JsonObject {
  const names = new Map(Object.entries(fields).map(([name, { number }]) => [number, name]));
  const members = new Map<string, unknown>();
  for (const { number, wire } of wireFields(bytes)) {
    const name = names.get(number);
    if (name === undefined && whole && !isZero(wire))
      throw new ProtobufError(`field ${number} cannot be read here: send the object as JSON`);
    if (name === undefined || (whole && saysNothing(fields[name]!, wire))) continue;
    members.set(name, readField(fields[name]!, wire, { before: members.get(name), whole }));
  }
  return Object.fromEntries(members);
}

/** Reports whether a value is the one that Go writes for an empty field. */
function isZero(wire: Wire): boolean {
  return typeof wire === "bigint" ? wire === 0n : wire.length === 0;
}

/** Reports whether a value is the same as an absent field. Items of lists and entries of maps are not, even if they are empty. */
function saysNothing({ type, presence }: Schema, wire: Wire): boolean {
  return presence === "omitEmpty" && type !== "list" && type !== "map" && isZero(wire);
}

interface Reading {
  /** The value from earlier fields with the same number: lists and maps are encoded as one field for each item. */
  readonly before?: unknown;
  /** Unknown fields with content are refused, and empty fields are treated as absent. */
  readonly whole: boolean;
}

function readField(shape: Schema, wire: Wire, { before, whole }: Reading): unknown {
  if (shape.type === "list") {
    const list = (before ?? []) as unknown[];
    list.push(readValue(shape.items, wire, whole));
    return list;
  }
  if (shape.type !== "map") return readValue(shape, wire, whole);
  const map = (before ?? {}) as JsonObject;
  const [key, value] = readEntry(shape.values, bytesOf(wire));
  return Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
}

function readEntry(of: Schema, bytes: Buffer): [string, unknown] {
  let key = "";
  let value: unknown = of.type === "string" ? "" : null;
  for (const { number, wire } of wireFields(bytes)) {
    if (number === 1) key = textOf(wire);
    else if (number === 2) value = readValue(of, wire);
  }
  return [key, value];
}

function readValue(shape: Schema, wire: Wire, whole = false): unknown {
  switch (shape.type) {
    case "string":
      return readText(shape, wire);
    case "integer":
      return Number(BigInt.asIntN(64, numberOf(wire)));
    case "boolean":
      return numberOf(wire) !== 0n;
    case "object":
      return readMessage(shape, bytesOf(wire), { whole });
    case "any":
      if (shape.opaque === undefined) break;
      return readMessage(shape.opaque.binary ?? NOTHING, bytesOf(wire), { whole: true });
    case "literals":
      return textOf(wire);
    case "either":
      return readIntOrText(bytesOf(wire));
    case "number":
    case "map":
    case "list":
  }
  throw new ProtobufError(`a value of type ${shape.type} cannot be read here`);
}

function readText({ encodes }: StringSchema, wire: Wire): string | null {
  if (encodes === "bytes") return bytesOf(wire).toString("base64");
  return encodes === undefined ? textOf(wire) : readTime(bytesOf(wire));
}

/** Reads a time, which is encoded as seconds since 1970 and nanoseconds. An absent time has no bytes. */
function readTime(bytes: Buffer): string | null {
  if (bytes.length === 0) return null;
  const parts = new Map(wireFields(bytes).map(({ number, wire }) => [number, Number(BigInt.asIntN(64, numberOf(wire)))]));
  const date = new Date((parts.get(1) ?? 0) * 1_000);
  if (Number.isNaN(date.getTime())) throw new ProtobufError("a time is out of range");
  const micros = Math.floor((parts.get(2) ?? 0) / 1_000);
  return `${date.toISOString().slice(0, 19)}.${String(micros).padStart(6, "0")}Z`;
}

/** Reads an IntOrString. Its fields are the type, the number and the string. */
function readIntOrText(bytes: Buffer): number | string {
  const parts = new Map(wireFields(bytes).map(({ number, wire }) => [number, wire]));
  if (numberOf(parts.get(1) ?? 0n) !== 0n) return textOf(parts.get(3) ?? Buffer.alloc(0));
  return Number(BigInt.asIntN(64, numberOf(parts.get(2) ?? 0n)));
}

function numberOf(wire: Wire): bigint {
  if (typeof wire === "bigint") return wire;
  throw new ProtobufError("found bytes, expected a number");
}

function bytesOf(wire: Wire): Buffer {
  if (typeof wire !== "bigint") return wire;
  throw new ProtobufError("found a number, expected bytes");
}

function textOf(wire: Wire): string {
  return bytesOf(wire).toString("utf8");
}

interface WireField {
  readonly number: number;
  readonly wire: Wire;
}

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH = 2;
const FIXED_32 = 5;
/** Maximum size of an encoded number of 64 bits: each byte contains seven of them. */
const VARINT_BYTES_MAX = 10;

function wireFields(bytes: Buffer): WireField[] {
  const found: WireField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let index = 0; index < VARINT_BYTES_MAX && at < bytes.length; index += 1) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) return value;
    }
    throw new ProtobufError("a number is not terminated");
  };
  const take = (length: number): Buffer => {
    if (length > bytes.length - at) throw new ProtobufError("a field is longer than its message");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = Math.floor(tag / 8);
    switch (tag % 8) {
      case VARINT:
        found.push({ number, wire: varint() });
        break;
      case LENGTH:
        found.push({ number, wire: take(Number(varint())) });
        break;
      case FIXED_64:
        take(8);
        break;
      case FIXED_32:
        take(4);
        break;
      default:
        throw new ProtobufError("a field is of an unknown type");
    }
  }
  return found;
}
