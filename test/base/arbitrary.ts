/** JSON values that are small enough to be equal by chance, with the keys that trip naive code. */
import * as fc from "fast-check";
import { isRecord } from "../../src/base/json.ts";

/** Reads JSON text: unlike in source code, `__proto__` is a key there. */
export function parsed(text: string): unknown {
  return JSON.parse(text);
}

const key = fc.constantFrom("a", "b", "0", "__proto__", "constructor", "toString");
const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, 1, "", "a", "1"),
  fc.string({ maxLength: 3 }),
  fc.double({ noNaN: true }),
);

/** Any JSON value, a few levels deep. */
export const jsonValue: fc.Arbitrary<unknown> = fc
  .letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie("value")), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
    ),
  }))
  // Through text, so that infinities and the second zero are gone.
  .value.map((value) => parsed(JSON.stringify(value)));

/** An equal value: keys in another order, undefined members added. The seed decides both. */
export function shuffled(value: unknown, seed: number): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, seed));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => [name, shuffled(member, seed)]);
  const turn = entries.length === 0 ? 0 : seed % entries.length;
  const turned = [...entries.slice(turn), ["absent", undefined] as [string, unknown], ...entries.slice(0, turn).reverse()];
  return Object.fromEntries(turned);
}
