import { EngineError } from "../../base/errors.ts";
import { isRecord, typeInWords } from "../../base/json.ts";
import { compilePath, formatSteps, parseConcrete, REMOVE, type PathStep } from "../../engine/path/path.ts";
import { setOwn } from "../../schema/node.ts";

/**
 * Returns a copy of the document with `value` at `path`. A path without a wildcard creates missing maps and lists on the way, and its
 * index can be one past the end of a list. With a wildcard, every match gets the value. Null removes the value.
 *
 * @throws PATH_SYNTAX, PATH_UNSUPPORTED if the path does not parse.
 * @throws CONFIG_VALUE if the path leads through a value other than a map or list, leaves a gap in a list, or matches nothing.
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
