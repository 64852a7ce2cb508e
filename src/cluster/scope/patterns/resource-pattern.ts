import { ALL, NAMED, UNNAMED, WILDCARD, these, type Pattern } from "./pattern.ts";

/** The resources and subresources that an entry of a rule matches; the subresource "" is the resource itself. */
export interface ResourcePattern {
  readonly resource: Pattern;
  readonly subresource: Pattern;
}

/**
 * Parses an entry such as `pods`, `pods/log`, `pods/*`, `*` + `/scale` or `*`. `*` alone means every resource with all its subresources.
 *
 * @example
 * resourcePattern("pods"); // pods, but not pods/log
 */
export function resourcePattern(entry: string): ResourcePattern {
  if (entry === WILDCARD) return { resource: ALL, subresource: ALL };
  const { resource, part } = split(entry);
  return {
    resource: resource === WILDCARD ? ALL : these(resource),
    subresource: part === undefined ? UNNAMED : part === WILDCARD ? NAMED : these(part),
  };
}

/** Two entries of a list that match the same resource. */
export interface Overlap {
  /** Index of the later one. */
  readonly index: number;
  /** The later one. */
  readonly entry: string;
  /** The earlier one. */
  readonly earlier: string;
}

/**
 * Finds entries that overlap with an earlier entry because of a wildcard, and returns each with the first entry that it overlaps. The
 * time is proportional to the length of the list.
 *
 * @example
 * overlaps(["*", "pods"]); // [{ index: 1, entry: "pods", earlier: "*" }]
 */
export function overlaps(entries: readonly string[]): Overlap[] {
  const firsts = new Firsts();
  return entries.flatMap((entry, index) => {
    const earlier = firsts.meeting(entry);
    firsts.add(entry);
    return earlier === undefined ? [] : [{ index, entry, earlier }];
  });
}

/** The first entry of each form, which finds overlaps without comparing all pairs. */
class Firsts {
  readonly #first = new Map<string, string>();

  add(entry: string): void {
    for (const form of formsOf(entry)) if (!this.#first.has(form)) this.#first.set(form, entry);
  }

  meeting(entry: string): string | undefined {
    for (const form of formsMeeting(entry)) {
      const found = this.#first.get(form);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Forms under which later entries look for this one. A form is a word and a name, distinguished from others by the word. */
function formsOf(entry: string): string[] {
  const { resource, part } = split(entry);
  const forms = ["any", `same ${entry}`];
  if (part === undefined) return forms;
  forms.push("part", `of ${resource}`, `part ${part}`);
  if (part === WILDCARD) forms.push("every part");
  if (resource === WILDCARD) forms.push("part of all");
  return forms;
}

/** Forms of the entries that overlap with this one, where either of the two has a wildcard. */
function formsMeeting(entry: string): string[] {
  if (entry === WILDCARD) return ["any"];
  const { resource, part } = split(entry);
  const wild = `same ${WILDCARD}`;
  if (part === undefined) return [wild];
  const everything = `same ${WILDCARD}/${WILDCARD}`;
  if (resource === WILDCARD) return part === WILDCARD ? [wild, "part"] : [wild, everything, `part ${part}`, "every part"];
  if (part === WILDCARD) return [wild, everything, `of ${resource}`, "part of all"];
  return [wild, everything, `same ${resource}/${WILDCARD}`, `same ${WILDCARD}/${part}`];
}

function split(entry: string): { readonly resource: string; readonly part: string | undefined } {
  const slash = entry.indexOf("/");
  return slash < 0 ? { resource: entry, part: undefined } : { resource: entry.slice(0, slash), part: entry.slice(slash + 1) };
}
