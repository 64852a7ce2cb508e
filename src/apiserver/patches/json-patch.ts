/**
 * JSON patch (RFC 6902). A patch applies as a whole or not at all: changed parts are copied, and the document itself is never modified.
 *
 * @module
 */
import { isRecord, jsonEqual } from "../../base/json.ts";
import { cloneJson, JSON_DEPTH_MAX } from "../types/objects/json-data.ts";

/** Maximum number of operations in one patch. Source: the API server's limit. */
export const PATCH_OPERATIONS_MAX = 10_000;

/** Maximum number of bytes of JSON that the copies of one patch may add. Source: the API server's limit. */
const COPIED_BYTES_MAX = 3_145_728;

/** Maximum number of list items that one patch may shift, because each insertion or removal may shift a whole list. */
const MOVED_ITEMS_MAX = 1_000_000;

/** The error for a patch that would make the document too large, or take too long. */
export class PatchGrowthError extends Error {
  override readonly name = "PatchGrowthError";
}

/** The error for a malformed patch. */
export class PatchSyntaxError extends Error {
  override readonly name = "PatchSyntaxError";
}

/** The error for a valid patch that does not apply to the document. */
export class PatchApplyError extends Error {
  override readonly name = "PatchApplyError";
}

/** One operation with parsed pointers. */
export type PatchOperation =
  | { readonly op: "add" | "replace" | "test"; readonly path: Pointer; readonly value: unknown }
  | { readonly op: "remove"; readonly path: Pointer }
  | { readonly op: "move" | "copy"; readonly path: Pointer; readonly from: Pointer };

/** The unescaped segments of a JSON pointer; none for the whole document. */
export type Pointer = readonly string[];

/**
 * Parses a patch.
 *
 * @throws PatchSyntaxError if the patch is malformed.
 */
export function parseJsonPatch(body: unknown): readonly PatchOperation[] {
  if (!Array.isArray(body)) throw new PatchSyntaxError("a JSON patch must be a list of operations");
  return body.map((entry, index) => parseOperation(entry, `operation ${index}`));
}

function parseOperation(entry: unknown, where: string): PatchOperation {
  if (!isRecord(entry)) throw new PatchSyntaxError(`${where} is not an object`);
  const own = (name: string) => (Object.hasOwn(entry, name) ? entry[name] : undefined);
  const op = own("op");
  const path = parsePointer(own("path"), `path of ${where}`);
  switch (op) {
    case "add":
    case "replace":
    case "test":
      if (!Object.hasOwn(entry, "value")) throw new PatchSyntaxError(`${where} (${op}) has no value`);
      return { op, path, value: entry["value"] };
    case "remove":
      return { op, path };
    case "move":
    case "copy":
      return { op, path, from: parsePointer(own("from"), `from of ${where}`) };
    default:
      throw new PatchSyntaxError(`${where} has the unknown op ${JSON.stringify(op)}`);
  }
}

function parsePointer(text: unknown, where: string): Pointer {
  if (typeof text !== "string") throw new PatchSyntaxError(`${where} is missing or not a string`);
  if (text === "") return [];
  if (!text.startsWith("/")) throw new PatchSyntaxError(`${where} does not begin with a slash: ${JSON.stringify(text)}`);
  if (/~(?![01])/.test(text)) throw new PatchSyntaxError(`${where} has an invalid ~ escape: ${JSON.stringify(text)}`);
  const segments = text.slice(1).split("/");
  if (segments.length > JSON_DEPTH_MAX) throw new PatchSyntaxError(`${where} has more than ${JSON_DEPTH_MAX} segments`);
  return segments.map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * Applies all operations to a document and returns the result.
 *
 * @throws PatchApplyError when an operation does not apply; PatchGrowthError when the patch copies more than {@link COPIED_BYTES_MAX} bytes
 *   or shifts more than {@link MOVED_ITEMS_MAX} list items.
 * @example
 * applyJsonPatch({ a: [1] }, parseJsonPatch([{ op: "add", path: "/a/-", value: 2 }])); // { a: [1, 2] }
 */
export function applyJsonPatch(document: unknown, operations: readonly PatchOperation[]): unknown {
  const patching = new Patching(cloneJson(document));
  for (const operation of operations) patching.apply(operation);
  return patching.document;
}

/** Applies operations to a private copy, so that the cost of an operation does not depend on the size of the document. */
class Patching {
  document: unknown;
  #copiedBytes = 0;
  #movedItems = 0;

  constructor(document: unknown) {
    this.document = document;
  }

  apply(operation: PatchOperation): void {
    const { op, path } = operation;
    switch (op) {
      case "add":
        return this.#add(path, cloneJson(operation.value));
      case "remove":
        return void this.#remove(path);
      case "replace":
        return this.#replace(path, cloneJson(operation.value));
      case "copy":
        return this.#copy(operation.from, path);
      case "move":
        return this.#move(operation.from, path);
      case "test":
        if (!jsonEqual(this.#testedAt(path, operation.value), operation.value)) throw new PatchApplyError(`test failed at ${shown(path)}`);
    }
  }

  #add(path: Pointer, value: unknown): void {
    const segment = path.at(-1);
    if (segment === undefined) return void (this.document = value);
    const container = this.#valueAt(path.slice(0, -1));
    if (Array.isArray(container)) {
      const index = segment === "-" ? container.length : indexOf(segment, container.length + 1, path);
      this.#splice(container, index, [0, value]);
    } else if (isRecord(container)) setMember(container, segment, value);
    else throw new PatchApplyError(`nothing can be added at ${shown(path)}`);
  }

  #remove(path: Pointer): unknown {
    const removed = this.#valueAt(path);
    const segment = path.at(-1);
    const container = this.#valueAt(path.slice(0, -1));
    if (segment === undefined) this.document = null;
    else if (Array.isArray(container)) this.#splice(container, Number(segment), [1]);
    else delete (container as Record<string, unknown>)[segment];
    return removed;
  }

  #replace(path: Pointer, value: unknown): void {
    this.#valueAt(path);
    const segment = path.at(-1);
    if (segment === undefined) return void (this.document = value);
    setMember(this.#valueAt(path.slice(0, -1)) as Record<string, unknown>, segment, value);
  }

  #splice(list: unknown[], index: number, change: [removed: number, ...added: unknown[]]): void {
    this.#movedItems += list.length - index;
    if (this.#movedItems > MOVED_ITEMS_MAX) throw new PatchGrowthError(`the patch moves more than ${MOVED_ITEMS_MAX} list items`);
    list.splice(index, ...change);
  }

  #copy(from: Pointer, path: Pointer): void {
    const value = this.#valueAt(from);
    // Each copy can double the document. Without a limit, a hundred operations would exhaust the memory.
    this.#copiedBytes += Buffer.byteLength(JSON.stringify(value));
    if (this.#copiedBytes > COPIED_BYTES_MAX) throw new PatchGrowthError(`the patch copies more than ${COPIED_BYTES_MAX} bytes in total`);
    this.#add(path, cloneJson(value));
  }

  #move(from: Pointer, path: Pointer): void {
    if (path.length > from.length && from.every((segment, index) => segment === path[index])) {
      throw new PatchApplyError(`cannot move ${shown(from)} into itself`);
    }
    this.#add(path, this.#remove(from));
  }

  /** In a test for null, a missing member counts as null. Source: evanphx/json-patch, which the API server uses. */
  #testedAt(path: Pointer, wanted: unknown): unknown {
    const container = wanted === null && path.length > 0 ? this.#valueAt(path.slice(0, -1)) : undefined;
    return isRecord(container) && !Object.hasOwn(container, path.at(-1)!) ? null : this.#valueAt(path);
  }

  #valueAt(path: Pointer): unknown {
    return path.reduce((container, segment) => memberOf(container, segment, path), this.document);
  }
}

function memberOf(container: unknown, segment: string, path: Pointer): unknown {
  if (Array.isArray(container)) return container[indexOf(segment, container.length, path)];
  if (isRecord(container) && Object.hasOwn(container, segment)) return container[segment];
  throw new PatchApplyError(`there is nothing at ${shown(path)}`);
}

function indexOf(segment: string, length: number, path: Pointer): number {
  if (/^(0|[1-9][0-9]{0,8})$/.test(segment) && Number(segment) < length) return Number(segment);
  throw new PatchApplyError(`there is no index ${JSON.stringify(segment)} in ${shown(path)}`);
}

/** Sets a member. A plain assignment to "__proto__" would set the prototype. */
function setMember(container: Record<string, unknown>, segment: string, value: unknown): void {
  Object.defineProperty(container, segment, { value, writable: true, enumerable: true, configurable: true });
}

function shown(path: Pointer): string {
  return JSON.stringify(path.map((segment) => `/${segment}`).join(""));
}
