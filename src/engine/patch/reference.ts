/**
 * Reference patches: a value that names another object gets the name that this object has on the other side.
 *
 * In the direction to the host, the name follows from a rule; in the direction to the tenant, it comes from the mapping, because host names
 * cannot be parsed. Names are checked before the object is looked up: they come from the tenant and end up in request paths.
 *
 * @module
 */
import { EngineError } from "../../base/errors.ts";
import { isRecord, typeInWords } from "../../base/json.ts";
import { formatKey, type ObjectKey } from "../../kube/object/key.ts";
import type { Direction } from "./patch-definition.ts";
import type { Path } from "../path/path.ts";
import type { CompiledReference } from "./compile.ts";
import type { FoundReference, KindName, NameRules } from "./types.ts";

/** The surroundings of a reference. */
export interface ReferenceSite {
  readonly direction: Direction;
  readonly names: NameRules;
  /** Namespace of a reference that does not name one, on the side that the object comes from. */
  readonly namespace: string;
  /** Namespace of the tenant object: the only one that a reference without a namespace field can mean in the tenant cluster. */
  readonly tenantNamespace: string;
  /** Concrete path of the matched value. */
  readonly place: string;
}

/** A rewritten value; `found` is absent for label selectors. */
export interface RewrittenReference {
  readonly value: unknown;
  readonly found?: FoundReference;
}

/**
 * Rewrites one matched value. Returns undefined if it names nothing (no name, or an empty one).
 *
 * @throws REFERENCE_VALUE when the value has the wrong type or is not a valid name; REFERENCE_KIND when its kind is not known;
 * NAME_NOT_MAPPED when its namespace is not mapped to the host; REFERENCE_UNMAPPED when a host name has no tenant name.
 */
export function rewriteReference(reference: CompiledReference, value: unknown, site: ReferenceSite): RewrittenReference | undefined {
  if (reference.definition.labels !== undefined) return rewriteSelector(value, site);
  const name = readName(reference, value);
  if (name === undefined) return undefined;
  const kind = kindOf(reference, value, site);
  const namespace = readText(reference.namespace, value);
  const source = checkKey({ namespace: namespace ?? site.namespace, name });
  const target = lookUp(kind, source, site);
  if (namespace === undefined && site.direction === "toTenant" && target.namespace !== site.tenantNamespace) {
    throw unmapped(source, `it belongs to tenant namespace "${target.namespace}", which this value cannot name`);
  }
  const [tenant, host] = site.direction === "toHost" ? [source, target] : [target, source];
  return {
    value: writeKey(reference, value, namespace === undefined ? { name: target.name } : target),
    found: { ...kind, tenant, host, place: site.place },
  };
}

function rewriteSelector(value: unknown, { direction, names }: ReferenceSite): RewrittenReference | undefined {
  if (value === null) return undefined;
  if (!isRecord(value)) throw wrongValue(`expected a label selector, found ${typeInWords(value)}`);
  return { value: names.labelSelector(value, direction) };
}

/** The name, or undefined if there is none: the field is absent, null or empty. */
function readName(reference: CompiledReference, value: unknown): string | undefined {
  if (value === null || value === "") return undefined;
  if (reference.name === undefined) {
    if (typeof value !== "string")
      throw wrongValue(
        `expected a name, found ${typeInWords(value)} (if it is an object, set namePath to the field that contains the name)`,
      );
    return value;
  }
  if (!isRecord(value)) throw wrongValue(`expected an object with ${reference.name.canonical}, found ${typeInWords(value)}`);
  return readText(reference.name, value);
}

function readText(path: Path | undefined, value: unknown): string | undefined {
  const match = path?.find(value)[0];
  if (match === undefined || match.value === null || match.value === "") return undefined;
  if (typeof match.value !== "string") throw wrongValue(`expected a string at ${match.path}, found ${typeInWords(match.value)}`);
  return match.value;
}

function kindOf({ definition, kind, apiVersion }: CompiledReference, value: unknown, site: ReferenceSite): KindName {
  const named = {
    apiVersion: readText(apiVersion, value) ?? definition.apiVersion,
    kind: readText(kind, value) ?? definition.kind,
  };
  if (site.names.knows(named)) return named;
  const shown = JSON.stringify(`${named.apiVersion}/${named.kind}`.slice(0, 253));
  throw new EngineError("REFERENCE_KIND", `Cannot translate a reference to kind ${shown}: the kind is not configured`);
}

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function checkKey(key: ObjectKey): ObjectKey {
  if (!NAME.test(key.name)) throw wrongValue(`${JSON.stringify(key.name.slice(0, 253))} is not a valid name`);
  if (!NAMESPACE.test(key.namespace)) throw wrongValue(`${JSON.stringify(key.namespace.slice(0, 253))} is not a valid namespace`);
  return key;
}

function lookUp(kind: KindName, source: ObjectKey, { direction, names }: ReferenceSite): ObjectKey {
  const target = direction === "toHost" ? names.toHost(kind, source) : names.toTenant(kind, source);
  if (target !== undefined) return target;
  if (direction === "toTenant") throw unmapped(source, "it belongs to no known tenant object");
  throw new EngineError("NAME_NOT_MAPPED", `Cannot translate reference "${formatKey(source)}": its namespace is not mapped to the host`);
}

function writeKey(reference: CompiledReference, value: unknown, target: { readonly name: string; readonly namespace?: string }): unknown {
  if (reference.name === undefined) return target.name;
  const named = reference.name.update(value, () => target.name);
  const { namespace } = target;
  return namespace === undefined ? named : reference.namespace!.update(named, () => namespace);
}

function wrongValue(why: string): EngineError {
  return new EngineError("REFERENCE_VALUE", `Cannot translate a reference: ${why}`);
}

/** The message may become an Event in the tenant cluster, where host names must not be disclosed. */
function unmapped(host: ObjectKey, why: string): EngineError {
  return new EngineError("REFERENCE_UNMAPPED", `Cannot translate the reference back: ${why}`, { details: { host: formatKey(host) } });
}
