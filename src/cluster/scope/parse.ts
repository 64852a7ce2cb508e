import { decodeObject } from "../../apiserver/types/objects/decode.ts";
import { ACCESS_SCOPE } from "./shape.ts";
import type { AccessScope } from "./types.ts";

class NoScope extends Error {}

/**
 * Reads a scope from its JSON text; undefined if it is invalid. An unknown field makes the scope invalid, because ignoring the field could
 * lift a restriction.
 *
 * @example
 * parseScope('{"clusters":[{"cluster":"c1"}]}'); // { clusters: [{ cluster: "c1" }] }
 */
export function parseScope(text: string): AccessScope | undefined {
  const refuse = (why: string): never => {
    throw new NoScope(why);
  };
  try {
    return decodeObject(ACCESS_SCOPE, JSON.parse(text), { root: "AccessScope", onUnknownField: refuse, refuse });
  } catch (error) {
    if (error instanceof NoScope || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
