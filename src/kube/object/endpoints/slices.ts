/**
 * Content of an EndpointSlice, independent of its notation.
 *
 * The API server stores endpoints and ports in their original order and merges nothing, and consumers read them as sets. Within one
 * endpoint, the order of addresses matters, because consumers use the first one. Absent, `null` and empty are the same, a missing protocol
 * is TCP, and fields that the API does not define are ignored: the server drops them, and a comparison that included them would always find
 * differences. Nothing here throws for a value that no server stores, because expressions can return such values.
 *
 * @module
 */
import { canonicalJson, isRecord } from "../../../base/json.ts";
import type { KubeObject } from "../types.ts";

/**
 * Returns a sorted text form that is equal for equivalent slices.
 *
 * @example
 * const slice = { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: {}, addressType: "IPv4" };
 * sliceFingerprint({ ...slice, endpoints: null }) === sliceFingerprint({ ...slice, endpoints: [], ports: [] }); // true
 */
export function sliceFingerprint({ addressType, endpoints, ports }: KubeObject): string {
  const lines = [...listOf(endpoints).map(endpointText).sort(), ...listOf(ports).map(portText).sort()];
  return [canonicalJson(present(addressType) ?? ""), ...lines].join("\n");
}

function endpointText(endpoint: unknown): string {
  const { addresses, conditions, hostname, nodeName, zone, hints, targetRef, deprecatedTopology } = fieldsOf(endpoint);
  return canonicalJson({
    addresses: listOf(addresses),
    conditions: some(conditions, ["ready", "serving", "terminating"]),
    ...some({ hostname, nodeName, zone }, ["hostname", "nodeName", "zone"]),
    hints: [names(fieldsOf(hints)["forZones"]), names(fieldsOf(hints)["forNodes"])],
    targetRef: some(targetRef, ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"]),
    topology: some(deprecatedTopology, Object.keys(fieldsOf(deprecatedTopology))),
  });
}

function portText(port: unknown): string {
  return `:${canonicalJson({ protocol: "TCP", ...some(port, ["name", "protocol", "port", "appProtocol"]) })}`;
}

/** Returns the fields that have a value. */
function some(value: unknown, fields: readonly string[]): Record<string, unknown> {
  const record = fieldsOf(value);
  return Object.fromEntries(fields.filter((field) => present(record[field]) !== undefined).map((field) => [field, record[field]]));
}

function names(hints: unknown): unknown[] {
  return listOf(hints).map((hint) => present(fieldsOf(hint)["name"]) ?? "");
}

function present(value: unknown): unknown {
  return value === null || value === "" ? undefined : value;
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return present(value) === undefined ? [] : [value];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
