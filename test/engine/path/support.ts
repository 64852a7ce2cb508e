import * as fc from "fast-check";
import { isEngineError } from "../../../src/base/errors.ts";
import type { Segment, PathStep } from "../../../src/engine/path/path.ts";

/** The facts of a refusal. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly column: number;
  readonly hint: string;
  readonly text: string;
}

/** What `attempt` is refused with. */
export function refusalOf(attempt: () => unknown): Refusal {
  try {
    attempt();
  } catch (error) {
    if (!isEngineError(error)) throw error;
    return { code: error.code, message: error.message, ...(error.details as { column: number; hint: string; text: string }) };
  }
  throw new Error("Expected a refusal");
}

/** Keys that some path language, some library or JavaScript itself treats specially. */
const ADVERSARIAL_KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "length",
  "0",
  "1",
  "-1",
  "01",
  "-0",
  "1e3",
  "",
  " ",
  ".",
  "..",
  "*",
  "$",
  "$ref",
  "~",
  "^",
  "@",
  "@x()",
  "?(1)",
  "(1)",
  "`a",
  "#0",
  ";",
  "%@%",
  "a.b",
  "a]b",
  "a[b",
  "[0]",
  "it's",
  'say "x"',
  "\\",
  "\n",
  "\0",
  "\u2028",
  "\u202e",
  "\ud800",
  "é",
  "example.com/x",
  "/",
  "a,b",
  "0:2",
  "a=b",
  "{x}",
];

/** Keys of an alphabet that every path library reads alike. */
const PLAIN_KEYS = ["a", "b", "spec", "name", "app_1", "x-y", "example.com/x"];

/** An object of own members, whatever their names. */
export function objectOf(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [key, value] of entries) Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  return object;
}

/** JSON documents with objects, lists and every kind of leaf. */
export function documents(options: { keys: "adversarial" | "plain" }): fc.Arbitrary<unknown> {
  const key =
    options.keys === "plain" ? fc.constantFrom(...PLAIN_KEYS) : fc.oneof(fc.constantFrom(...ADVERSARIAL_KEYS), fc.string({ maxLength: 4 }));
  const leaf = fc.oneof(fc.constantFrom(null, true, 0, -1, 1.5, "", "text", "length"), fc.integer(), fc.string({ maxLength: 3 }));
  const size = { maxLength: 4 };
  return fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf,
      fc.array(tie("node"), size),
      fc.array(fc.tuple(key, tie("node")), size).map(objectOf),
      fc.array(fc.tuple(key, tie("node")), size).map(objectOf),
    ),
  })).node;
}

/** A document with a path to one of its nodes, some of its segments opened to wildcards, some indexes counted from the end. */
export function documentsWithPath(options: { keys: "adversarial" | "plain" }): fc.Arbitrary<{ document: unknown; segments: Segment[] }> {
  return fc.tuple(documents(options), fc.infiniteStream(fc.nat({ max: 999 }))).map(([document, choices]) => {
    const choose = (count: number) => (choices.next().value as number) % count;
    const places = placesOf(document);
    let node = document;
    const segments = (places.length === 0 ? ["absent"] : places[choose(places.length)]!).map((step): Segment => {
      const parent = node;
      node = (parent as Record<PathStep, unknown> | null)?.[step];
      if (choose(3) === 0) return { kind: "wildcard" };
      if (typeof step === "string") return { kind: "key", key: step };
      return { kind: "index", index: choose(4) === 0 ? step - (parent as unknown[]).length : step };
    });
    return { document, segments };
  });
}

/** The steps to every node but the root, in document order, found without the code under test. */
export function placesOf(root: unknown): PathStep[][] {
  const places: PathStep[][] = [];
  const visit = (node: unknown, steps: PathStep[]): void => {
    if (steps.length > 0) places.push(steps);
    if (Array.isArray(node)) node.forEach((child, at) => visit(child, [...steps, at]));
    else if (typeof node === "object" && node !== null) for (const [key, child] of Object.entries(node)) visit(child, [...steps, key]);
  };
  visit(root, []);
  return places;
}

/** What stands at one place, found without the code under test: own members and elements only; `undefined` is absent, `null` is not. */
export function valueAt(root: unknown, steps: readonly PathStep[]): { found: boolean; value: unknown } {
  let value = root;
  for (const step of steps) {
    const leads = typeof value === "object" && value !== null && Array.isArray(value) === (typeof step === "number");
    value = leads && Object.hasOwn(value as object, step) ? (value as Record<PathStep, unknown>)[step] : undefined;
  }
  return { found: value !== undefined, value };
}
