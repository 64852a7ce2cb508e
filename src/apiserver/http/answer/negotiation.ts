import { notAcceptable } from "../../types/status.ts";

/** One entry of an Accept header. */
export interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly quality: number;
}

/** Maximum number of entries that are parsed. Only hostile clients send more. */
const RANGES_MAX = 64;

/**
 * Parses an Accept header. The best entry comes first; entries of quality 0 are omitted.
 *
 * @example
 * parseAccept("application/json;q=0.5, application/yaml")[0].type; // "application/yaml"
 */
export function parseAccept(header: string): MediaRange[] {
  const ranges = header.split(",", RANGES_MAX).map(parseRange);
  return ranges.filter(({ type, quality }) => type !== "" && quality > 0).sort((left, right) => right.quality - left.quality);
}

function parseRange(text: string): MediaRange {
  const [type = "", ...rest] = text.split(";").map((part) => part.trim());
  const parameters = Object.fromEntries(rest.map((part) => [part.split("=", 1)[0]!.trim(), part.slice(part.indexOf("=") + 1).trim()]));
  const quality = Number(parameters["q"] ?? 1);
  return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 0 };
}

/** Maximum number of cached headers. Clients send the same few headers repeatedly. */
const REMEMBERED_MAX = 100;
/** Maximum length of a cached header. */
const REMEMBERED_LENGTH_MAX = 1_024;
const remembered = new Map<string, readonly MediaRange[]>();
/** The best offer for each header, by the list of offers. */
const chosen = new WeakMap<readonly Offer<unknown>[], Map<string, Offer<unknown>>>();

/** A form in which a handler can send a response. */
export interface Offer<T> {
  readonly type: string;
  /** The conversion that the entry must request. Default: the entry must request none. */
  readonly as?: { readonly g: string; readonly v: string; readonly as: string };
  readonly value: T;
}

/**
 * Returns the offer that best matches the header. Entries that request a conversion without an offer are skipped, because clients list the
 * plain form after them.
 *
 * @throws API_ERROR (406) when nothing matches.
 */
export function negotiate<T>(header: string | undefined, offers: readonly Offer<T>[]): T {
  let choices = chosen.get(offers) as Map<string, Offer<T>> | undefined;
  if (choices === undefined) chosen.set(offers, (choices = new Map()));
  const known = choices.get(header ?? "");
  if (known !== undefined) return known.value;
  const offer = choose(header, offers);
  if (header !== undefined && header.length > REMEMBERED_LENGTH_MAX) return offer.value;
  if (choices.size >= REMEMBERED_MAX) choices.clear();
  choices.set(header ?? "", offer);
  return offer.value;
}

function choose<T>(header: string | undefined, offers: readonly Offer<T>[]): Offer<T> {
  const plain = offers.find(({ as }) => as === undefined)!;
  if (header === undefined || header.trim() === "") return plain;
  let ranges = remembered.get(header);
  if (ranges === undefined) {
    ranges = parseAccept(header);
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(header, ranges);
  }
  for (const range of ranges) {
    const offer = offers.find((candidate) => suits(range, candidate));
    if (offer !== undefined) return offer;
  }
  throw notAcceptable([...new Set(offers.map(({ type }) => type))]);
}

function suits({ type, parameters }: MediaRange, offer: Offer<unknown>): boolean {
  const sameType = type === offer.type || type === "*/*" || (type.endsWith("/*") && offer.type.startsWith(type.slice(0, -1)));
  if (!sameType) return false;
  if (offer.as === undefined) return parameters["as"] === undefined;
  return parameters["as"] === offer.as.as && parameters["g"] === offer.as.g && parameters["v"] === offer.as.v;
}
