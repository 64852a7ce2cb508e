/**
 * Compares a host object with its expected content. The comparison is independent of the engine's and much simpler, which is enough for
 * the objects in a simulation.
 *
 * @module
 */
import { canonicalJson } from "../../../base/json.ts";
import type { EndpointSlice, EndpointSubset, KubeObject, Service, StringMap } from "../../../kube/object/types.ts";
import { bodyFields } from "../../../engine/reconcile/rules/kind-description.ts";
import type { Rules } from "../../../engine/reconcile/rules/rules.ts";

/** A label that is checked separately, with the slices. */
export const SKIP_MIRROR_LABEL = "endpointslice.kubernetes.io/skip-mirror";
const TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

/** The first difference between the expected and the actual value, as text; undefined if there is none. */
export function differenceOf(rules: Rules, wanted: KubeObject, host: KubeObject): string | undefined {
  for (const field of ["labels", "annotations"] as const) {
    const difference = mapDifference(rules, field, wanted.metadata[field] ?? {}, host.metadata[field] ?? {});
    if (difference !== undefined) return difference;
  }
  const [left, right] = [bodyText(rules, wanted), bodyText(rules, host)];
  return left === right ? undefined : `expected ${left}, found ${right}`;
}

function mapDifference(rules: Rules, field: "labels" | "annotations", wanted: StringMap, host: StringMap): string | undefined {
  const comparable = (key: string) =>
    !key.startsWith(rules.translator.markerPrefix) && !rules.settings.excluded(key) && key !== TRIGGER_TIME && key !== SKIP_MIRROR_LABEL;
  const ours = (key: string) => comparable(key) && (field === "annotations" || rules.translator.tenantLabelKey(key) !== undefined);
  const keys = new Set([
    ...Object.keys(wanted).filter((key) => key !== TRIGGER_TIME && key !== SKIP_MIRROR_LABEL),
    ...Object.keys(host).filter(ours),
  ]);
  const key = [...keys].find((candidate) => wanted[candidate] !== host[candidate]);
  return key === undefined ? undefined : `${field} ${key}: expected ${wanted[key] ?? "none"}, found ${host[key] ?? "none"}`;
}

function bodyText({ kind }: Rules, object: KubeObject): string {
  if (object.kind === "Endpoints") return [...endpointsOf((object["subsets"] ?? []) as readonly EndpointSubset[])].sort().join(" ");
  if (object.kind === "EndpointSlice") return sliceText(object as EndpointSlice);
  if (object.kind !== "Service") return canonicalJson(bodyFields(kind).map((field) => object[field] ?? null));
  const { clusterIP, selector, ports = [], type = "ClusterIP" } = (object as Service).spec ?? {};
  const plain = ports.map(({ name, port, protocol = "TCP" }) => `${name}/${port}/${protocol}`);
  return canonicalJson({ headless: clusterIP === "None", selector: selector ?? {}, ports: plain, type });
}

/** A slice as text. Readers ignore the order of endpoints and of ports. */
function sliceText({ addressType, endpoints = [], ports = [] }: EndpointSlice): string {
  const addresses = (endpoints ?? []).map((endpoint) => canonicalJson([endpoint.addresses, endpoint.conditions ?? {}]));
  const plain = (ports ?? []).map(({ name = "", port, protocol = "TCP" }) => `${name}/${port}/${protocol}`);
  return canonicalJson({ addressType, addresses: addresses.sort(), ports: plain.sort() });
}

/** One text per port and address. An address that is not ready in one place is not ready. Addresses without ports do not count. */
function endpointsOf(subsets: readonly EndpointSubset[]): ReadonlySet<string> {
  const ready = new Set<string>();
  const notReady = new Set<string>();
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const { name = "", port, protocol = "TCP" } of ports) {
      for (const { ip } of addresses) ready.add(`${ip}:${port}/${protocol}/${name}`);
      for (const { ip } of notReadyAddresses) notReady.add(`${ip}:${port}/${protocol}/${name}`);
    }
  }
  return new Set([...[...ready].filter((text) => !notReady.has(text)), ...[...notReady].map((text) => `${text}!`)]);
}
