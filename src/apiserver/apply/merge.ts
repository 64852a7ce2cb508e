/**
 * Merges an applied configuration into an object: maps and objects are merged, lists whose items have identities are merged by item, and
 * all other values are replaced. Nothing is removed here.
 *
 * @module
 */
import type { JsonObject } from "../../base/json.ts";
import type { ListSchema, Schema } from "../../schema/schema.ts";
import { divide, itemsByStep, itemStep, memberShape } from "../types/fields/structure.ts";

/**
 * The value with the configuration merged in. Neither argument is modified; the result shares parts of both.
 *
 * @example
 * mergeConfig(textMap, { a: "1", b: "2" }, { b: "3" }); // { a: "1", b: "3" }
 */
export function mergeConfig(shape: Schema, live: unknown, config: unknown): unknown {
  if (live === undefined) return config;
  const wanted = divide(shape, config);
  const present = divide(shape, live);
  if (wanted?.by === "members" && present?.by === "members") {
    const bothEmpty = Object.keys(wanted.members).length === 0 && Object.keys(present.members).length === 0;
    return bothEmpty ? config : mergeMembers(shape, present.members, wanted.members);
  }
  if (wanted?.by === "items" && present?.by === "items") {
    const bothEmpty = wanted.items.length === 0 && present.items.length === 0;
    return bothEmpty ? config : mergeItems(wanted.list, present.items, wanted.items);
  }
  return config;
}

function mergeMembers(shape: Schema, live: JsonObject, config: JsonObject): JsonObject {
  const members = new Map(Object.entries(live));
  for (const [name, value] of Object.entries(config)) members.set(name, mergeConfig(memberShape(shape, name), members.get(name), value));
  // fromEntries, unlike assignment, treats "__proto__" as a name like any other.
  return Object.fromEntries(members);
}

/**
 * Merges lists by item. The items of the configuration are in its order. Other items keep their place between the items that both lists
 * share; new items come before the next shared one.
 */
function mergeItems(list: ListSchema, live: readonly unknown[], config: readonly unknown[]): unknown[] {
  const wanted = itemsByStep(list, config);
  const present = itemsByStep(list, live);
  const order = [...wanted.keys()];
  const shared = order.filter((step) => present.has(step));
  const merged: unknown[] = [];
  let nextShared = 0;
  let placed = 0;
  const place = () => {
    const step = order[placed]!;
    placed += 1;
    merged.push(mergeConfig(list.items, present.get(step), wanted.get(step)));
    return step;
  };
  for (const item of live) {
    const step = itemStep(list, item);
    if (step === undefined || !wanted.has(step)) merged.push(item);
    else if (step === shared[nextShared]) {
      nextShared += 1;
      while (place() !== step);
    }
  }
  while (placed < order.length) place();
  return merged;
}
