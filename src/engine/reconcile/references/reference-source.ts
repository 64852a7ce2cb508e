/**
 * Decides whether an object of the host may be brought into the tenant under the name that a user there gave. Host names are not unique:
 * `db-x-shop-x-a-x-blue` is `db-x-shop` of namespace `a`, and `db` of namespace `shop-x-a`.
 *
 * @module
 */
import { formatKey, sameKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { isMarkedBySyncer, namesAnotherCluster, readForeignMarkers } from "../../translate/foreign-markers.ts";
import { STANDS_FOR } from "../../translate/markers.ts";
import type { ReferenceRules, SourcedInput } from "./reference-rules.ts";

/** Separates the parts of a shared host name, and may also occur within each of them. */
const JOINT = "-x-";

/**
 * Returns the other tenant namespaces whose imports can have the same host name, whether or not these namespaces exist. Empty if the host
 * operator has stated which one is meant.
 *
 * @example
 * namesakes(rules, { kind, key: { namespace: "a", name: "db-x-shop" }, hostKey, source }); // ["shop-x-a"]
 */
export function namesakes(rules: ReferenceRules, { kind, key, hostKey, source }: SourcedInput): readonly string[] {
  const { translator } = rules;
  if (kind.direction === "toHost" || wordOf(rules, { key }, source) !== undefined) return [];
  const joined = `${key.name}${JOINT}${key.namespace}`;
  const found = new Set<string>();
  for (let at = joined.indexOf(JOINT); at >= 0; at = joined.indexOf(JOINT, at + 1)) {
    const other = { name: joined.slice(0, at), namespace: joined.slice(at + JOINT.length) };
    const place = other.name === "" || other.namespace === "" ? undefined : translator.toHost(other, kind.resource);
    if (!sameKey(other, key) && place !== undefined && sameKey(place, hostKey)) found.add(other.namespace);
  }
  return [...found];
}

/** Returns the host operator's statement about an object: that it is meant for this tenant object, or for another one. */
function wordOf(
  { translator }: ReferenceRules,
  { key }: Pick<SourcedInput, "key">,
  { metadata }: KubeObject,
): "this" | "another" | undefined {
  const said = metadata.annotations?.[translator.markerPrefix + STANDS_FOR];
  return said === undefined ? undefined : said === formatKey(key) ? "this" : "another";
}

/** Returns why a source on the host must not be copied to the tenant, in words that reveal nothing about the host; undefined if it may. */
export function whyNotImported(rules: ReferenceRules, input: SourcedInput): string | undefined {
  const { kind, key, source, namesakeExists } = input;
  if (kind.direction === "toHost") return undefined;
  const { vcluster, markerPrefix } = rules.translator;
  const about = { vcluster: vcluster.name, resource: kind.resource, ownPrefix: markerPrefix };
  const [theirs] = readForeignMarkers(source, about);
  const isTheirs = theirs !== undefined ? !sameKey(theirs, key) : isMarkedBySyncer(source) || namesAnotherCluster(source, about);
  if (isTheirs) return "the object on the host has another owner";
  const word = wordOf(rules, input, source);
  if (word === "another") return "the object on the host is meant for another tenant object";
  if (word === "this" || namesakeExists !== true) return undefined;
  return `the object on the host may be meant for another namespace, unless its annotation ${markerPrefix}${STANDS_FOR} is "${formatKey(key)}"`;
}
