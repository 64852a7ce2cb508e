import { EngineError } from "../../base/errors.ts";
import { isRecord, typeInWords } from "../../base/json.ts";
import { compilePath, formatSteps, parseConcrete, REMOVE } from "../../engine/path/path.ts";
import type { PathStep } from "../../engine/path/path.ts";
import { setOwn } from "../../schema/node.ts";

/**
 * The document with `value` at `path`. For a path without a wildcard, missing maps and lists on the way are created, and an index may
 * be the one after the last element; with a wildcard, every match gets the value. Null removes the value. The document is not
 * changed.
 *
 * @throws PATH_SYNTAX, PATH_UNSUPPORTED when the path does not parse.
 * @throws CONFIG_VALUE when it leads through something that is not a map or list, leaves a gap in a list, or matches nothing.
 * @example
 * setValue({ metadata: {} }, "metadata.labels.tier", "web"); // { metadata: { labels: { tier: "web" } } }
 */
export function setValue(document: unknown, path: string, value: unknown): unknown {
  const compiled = compilePath(path);
  const answer = value === null ? REMOVE : value;
  if (compiled.segments.some((segment) => segment.kind === "wildcard" || (segment.kind === "index" && segment.index < 0))) {
    const found = compiled.find(document);
    if (found.length === 0 && value !== null)
      throw refusal(path, "the path matches nothing, and a path with [*] or a negative index creates nothing");
    return compiled.update(document, () => answer);
  }
  if (value === null) return compiled.update(document, () => REMOVE);
  return place(document, parseConcrete(path), { path, value, depth: 0 });
}

function place(node: unknown, steps: readonly PathStep[], site: { path: string; value: unknown; depth: number }): unknown {
  if (site.depth === steps.length) return site.value;
  const step = steps[site.depth]!;
  const next = { ...site, depth: site.depth + 1 };
  const into = node ?? (typeof step === "number" ? [] : {});
  if (typeof step === "number" && Array.isArray(into)) {
    if (step > into.length)
      throw refusal(site.path, `${at(steps, site.depth)} has length ${into.length}, which leaves a gap before [${step}]`);
    const list: readonly unknown[] = into;
    return [...list.slice(0, step), place(list[step], steps, next), ...list.slice(step + 1)];
  }
  if (!isRecord(into)) throw refusal(site.path, `${at(steps, site.depth)} is ${typeInWords(into)}`);
  const key = String(step);
  const inner = place(Object.hasOwn(into, key) ? into[key] : undefined, steps, next);
  const copy = { ...into };
  setOwn(copy, key, inner);
  return copy;
}

function at(steps: readonly PathStep[], depth: number): string {
  return formatSteps(steps.slice(0, depth));
}

function refusal(path: string, why: string): EngineError {
  return new EngineError("CONFIG_VALUE", `Cannot set ${path}: ${why}`);
}
