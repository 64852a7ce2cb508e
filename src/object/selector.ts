import { EngineError } from "../base/errors.ts";
import type { StringMap } from "./types.ts";

/** One condition of a label selector. */
export interface Requirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values: readonly string[];
}

/** All conditions must hold. */
export type Selector = readonly Requirement[];

/** A selector as objects hold it. */
export interface LabelSelector {
  readonly matchLabels?: StringMap;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

const KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/**
 * Reads Kubernetes' text form of a label selector. Empty text selects everything.
 *
 * @throws API_BAD_REQUEST when the text does not parse.
 * @example
 * matchesSelector(parseSelector("app=web, tier in (a, b), !old"), { app: "web", tier: "a" }); // true
 */
export function parseSelector(text: string): Selector {
  return splitTopLevel(text).map((part) => parseRequirement(part, text));
}

function splitTopLevel(text: string): string[] {
  if (text.trim() === "") return [];
  // Commas inside the parentheses of "in (a, b)" do not separate.
  return text.split(/,(?![^(]*\))/).map((part) => part.trim());
}

function parseRequirement(part: string, text: string): Requirement {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part);
  if (set) {
    const values = set[3]!.split(",").map((value) => value.trim());
    return checked({ key: set[1]!, operator: set[2] === "in" ? "In" : "NotIn", values }, text);
  }
  const compare = /^([^\s=!<>]+)\s*(==|=|!=|>|<)\s*(\S*)$/.exec(part);
  if (compare) {
    const operator = ({ "=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt" } as const)[compare[2] as "="];
    return checked({ key: compare[1]!, operator, values: [compare[3]!] }, text);
  }
  const absent = /^!\s*(\S+)$/.exec(part);
  if (absent) return checked({ key: absent[1]!, operator: "DoesNotExist", values: [] }, text);
  return checked({ key: part, operator: "Exists", values: [] }, text);
}

function checked(requirement: Requirement, text: string): Requirement {
  const { key, operator, values } = requirement;
  const numeric = operator === "Gt" || operator === "Lt";
  const wrong = !KEY.test(key) ? key : values.find((value) => (numeric ? !/^-?[0-9]+$/.test(value) : !VALUE.test(value)));
  if (wrong === undefined) return requirement;
  throw new EngineError("API_BAD_REQUEST", `unable to parse requirement: ${JSON.stringify(wrong)} in selector ${JSON.stringify(text)}`);
}

/** Turns a selector field into conditions; an empty selector selects everything. */
export function selectorOf(field: LabelSelector): Selector {
  const labels = Object.entries(field.matchLabels ?? {}).map(([key, value]): Requirement => ({ key, operator: "In", values: [value] }));
  const expressions = (field.matchExpressions ?? []).map((entry): Requirement => ({
    key: entry.key,
    operator: entry.operator as Requirement["operator"],
    values: entry.values ?? [],
  }));
  return [...labels, ...expressions];
}

/** Tells whether every condition holds for `labels`. */
export function matchesSelector(selector: Selector, labels: StringMap | undefined): boolean {
  return selector.every((requirement) => holds(requirement, labels ?? {}));
}

function holds({ key, operator, values }: Requirement, labels: StringMap): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return value !== undefined && /^-?[0-9]+$/.test(value) && Number(value) > Number(values[0]);
    case "Lt":
      return value !== undefined && /^-?[0-9]+$/.test(value) && Number(value) < Number(values[0]);
  }
}
