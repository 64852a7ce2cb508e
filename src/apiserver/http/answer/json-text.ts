import type { WatchRecord } from "../../verbs/watch/watch-queue.ts";

const texts = new WeakMap<object, string>();

/** Maximum length of a cached text. Caching longer texts would double the memory of their objects. */
const KEPT_LENGTH_MAX = 4 * 1024;

/** The JSON text of an object. Short texts of frozen objects are cached; all others are created for each response. */
function jsonTextOf(object: object): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    if (text.length <= KEPT_LENGTH_MAX && Object.isFrozen(object)) texts.set(object, text);
  }
  return text;
}

/** Caches values derived from objects, up to a size limit. The oldest entries are evicted first. */
class Kept<Made extends { readonly bytes: number }> {
  readonly #made = new Map<object, Made>();
  readonly #max: number;
  #bytes = 0;

  /** @param max The size limit in bytes. */
  constructor(max: number) {
    this.#max = max;
  }

  get(object: object): Made | undefined {
    return this.#made.get(object);
  }

  set(object: object, made: Made): void {
    this.#bytes += made.bytes - (this.#made.get(object)?.bytes ?? 0);
    this.#made.delete(object);
    this.#made.set(object, made);
    for (const [oldest, { bytes }] of this.#made) {
      if (this.#bytes <= this.#max) break;
      this.#made.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}

interface Lines {
  readonly of: Partial<Record<WatchRecord["type"], Buffer>>;
  readonly bytes: number;
}

/** The lines of recent events. All watchers of an event need its line at almost the same time. */
const lines = new Kept<Lines>(8 * 1024 * 1024);

/** The line of a watch stream for a record, encoded once for all watchers. */
export function lineOf({ type, object }: WatchRecord): Buffer {
  const known = lines.get(object);
  if (known?.of[type] !== undefined) return known.of[type];
  // The JSON text itself is not cached, because most versions are replaced before a list needs their text.
  const line = Buffer.from(`{"type":"${type}","object":${texts.get(object) ?? JSON.stringify(object)}}\n`);
  lines.set(object, { of: { ...known?.of, [type]: line }, bytes: (known?.bytes ?? 0) + line.length });
  return line;
}

/** A list or a table, split into its elements and the rest. */
interface Listing {
  readonly head: object;
  readonly name: string;
  readonly elements: readonly object[];
}

/** Splits a list or a table. Returns undefined for all other objects. */
export function listingOf(object: object): Listing | undefined {
  const { items, rows } = object as Record<string, unknown>;
  const name = Array.isArray(items) ? "items" : Array.isArray(rows) ? "rows" : undefined;
  if (name === undefined) return undefined;
  const { [name]: elements, ...head } = object as Record<string, unknown>;
  return { head, name, elements: elements as readonly object[] };
}

/** Maps an element of a list to the value to write. */
export type Each = (element: object) => object;

const asItIs: Each = (element) => element;

/** The JSON text of an object in parts, one for each element of a list; `each` is called for an element when its part is read. */
export function jsonParts(object: object, each = asItIs): Iterable<string> {
  const listing = listingOf(object);
  return listing === undefined ? [jsonTextOf(object)] : listParts(listing, each);
}

function* listParts({ head, name, elements }: Listing, each: Each): Iterable<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"${name}":[`;
  for (let index = 0; index < elements.length; index += 1) yield `${index === 0 ? "" : ","}${jsonTextOf(each(elements[index]!))}`;
  yield "]}";
}

interface Elements {
  readonly elements: readonly object[];
  readonly text: Buffer;
  readonly bytes: number;
}

/** Encoded elements of lists, by their first element. Most lists are requested again before an element changes. */
const elementsKept = new Kept<Elements>(8 * 1024 * 1024);
/** Maximum size of the cached elements of a list. Longer lists are written in pieces. */
const ELEMENTS_BYTES_MAX = 64 * 1024;

/**
 * The JSON text of a short list of stored objects, in two parts. The encoded elements are reused until one of them changes. Returns
 * undefined for all other objects.
 */
export function listBytes(object: object, each = asItIs): readonly [head: string, elements: Buffer] | undefined {
  const listing = listingOf(object);
  if (listing === undefined || listing.elements.length < 2) return undefined;
  const text = elementsText(listing.elements, each);
  return text && [`${JSON.stringify(listing.head).slice(0, -1)},"${listing.name}":[`, text];
}

function elementsText(elements: readonly object[], each: Each): Buffer | undefined {
  const first = each(elements[0]!);
  const known = elementsKept.get(first);
  if (known?.elements.length === elements.length && elements.every((element, index) => each(element) === known.elements[index])) {
    return known.text;
  }
  const shown: object[] = [];
  let length = 0;
  for (const element of elements) {
    const one = each(element);
    if (!Object.isFrozen(one)) return undefined;
    length += jsonTextOf(one).length + 1;
    if (length > ELEMENTS_BYTES_MAX) return undefined;
    shown.push(one);
  }
  const text = Buffer.from(`${shown.map(jsonTextOf).join()}]}`);
  elementsKept.set(first, { elements: shown, text, bytes: text.length });
  return text;
}

/** The JSON text of an object in parts, indented for human readers. */
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
