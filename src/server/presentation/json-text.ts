import type { WatchRecord } from "../http/watch-queue.ts";

const texts = new WeakMap<object, string>();

/** A longer text is made each time: to keep it would double what the object takes in memory. */
const KEPT_LENGTH_MAX = 4 * 1024;

/** The JSON text of a frozen object, made once per object however often it is read if it is short. */
export function textOf(object: object): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    if (text.length <= KEPT_LENGTH_MAX) texts.set(object, text);
  }
  return text;
}

type Lines = Partial<Record<WatchRecord["type"], Buffer>>;

/** Bytes of lines that are remembered. Watchers of one event ask for its line almost at once; kept for longer it would only cost memory. */
const LINES_BYTES_MAX = 8 * 1024 * 1024;
const lines = new Map<object, Lines>();
let lineBytes = 0;

/** The line of a watch stream for a record, made once for all its watchers. */
export function lineOf({ type, object }: WatchRecord): Buffer {
  const known = lines.get(object)?.[type];
  if (known !== undefined) return known;
  // The text of a passing version is not kept: only what is listed again and again is worth that.
  const line = Buffer.from(`{"type":"${type}","object":${texts.get(object) ?? JSON.stringify(object)}}\n`);
  lines.set(object, { ...lines.get(object), [type]: line });
  lineBytes += line.length;
  for (const [oldest, forgotten] of lines) {
    if (lineBytes <= LINES_BYTES_MAX) break;
    lines.delete(oldest);
    for (const { length } of Object.values(forgotten)) lineBytes -= length;
  }
  return line;
}

/** An object that ends with a list of others, such as a list or a table, in two parts. */
interface Listing {
  readonly head: object;
  readonly name: string;
  readonly elements: readonly object[];
}

/** Takes a list or a table apart; undefined for everything else. */
export function listingOf(object: object): Listing | undefined {
  const name = ["items", "rows"].find((one) => Array.isArray((object as Record<string, unknown>)[one]));
  if (name === undefined) return undefined;
  const { [name]: elements, ...head } = object as Record<string, unknown>;
  return { head, name, elements: elements as readonly object[] };
}

/** What an element of a list is written as. */
export type Each = (element: object) => object;

const asItIs: Each = (element) => element;

/** The JSON text of an object in parts, one for each element of a list; `each` is asked for an element when its part is. */
export function* jsonParts(object: object, each = asItIs): Iterable<string> {
  const listing = listingOf(object);
  if (listing === undefined) return yield elementText(object);
  const { head, name, elements } = listing;
  yield `${JSON.stringify(head).slice(0, -1)},"${name}":[`;
  for (let index = 0; index < elements.length; index += 1) yield `${index === 0 ? "" : ","}${elementText(each(elements[index]!))}`;
  yield "]}";
}

/** What is stored is read again and again; everything else is made for one answer. */
function elementText(object: object): string {
  return Object.isFrozen(object) ? textOf(object) : JSON.stringify(object);
}

/** The same, indented for people. */
export function* indentedParts(object: object, each = asItIs): Iterable<string> {
  const listing = listingOf(object);
  if (listing === undefined || listing.elements.length === 0) return yield `${JSON.stringify(object, null, 2)}\n`;
  const { head, name, elements } = listing;
  yield `${JSON.stringify(head, null, 2).slice(0, -2)},\n  "${name}": [`;
  for (let index = 0; index < elements.length; index += 1) {
    yield `${index === 0 ? "" : ","}\n${JSON.stringify(each(elements[index]!), null, 2).replace(/^/gm, "    ")}`;
  }
  yield "\n  ]\n}\n";
}
