import { sha256Hex } from "../../base/digest.ts";
import { isRecord } from "../../base/json.ts";
import { ENDPOINTS } from "../../kube/object/resource.ts";
import { subsetsFingerprint } from "../../kube/object/endpoints/subsets.ts";
import type { EndpointAddress, Endpoints, EndpointSubset, KubeObject } from "../../kube/object/types.ts";
import { OBJECT_META } from "../../kube/object/kind-shape.ts";
import { ENDPOINTS_FIELDS } from "../../kube/object/kinds/endpoints.ts";
import { objectOf } from "../../schema/builders.ts";
import type { Translator } from "../translate/translator.ts";
import { admitAddresses } from "../reconcile/rules/address-policy.ts";
import { PLAIN_KIND, SAMPLE_PORTS, sampleAddresses, sampleMetadata, samplePod } from "./kind-parts.ts";
import { remembered } from "../reconcile/rules/remembered.ts";
import type { AllowedBody, LabelSurroundings, Rules, SyncedKind } from "../reconcile/rules/rules.ts";
import { replacesMirror, SKIP_MIRROR } from "./slice-labels.ts";
import { tenantTargets, toHostTarget } from "./target-references.ts";

const SAMPLE = {
  ...{ apiVersion: "v1", kind: "Endpoints", metadata: sampleMetadata("web") },
  subsets: [
    {
      addresses: [
        { ip: "10.1.0.11", hostname: "web-0", nodeName: "node-1", targetRef: samplePod("web-0") },
        { ip: "10.1.0.12", hostname: "web-1", nodeName: "node-2", targetRef: samplePod("web-1") },
      ],
      notReadyAddresses: [{ ip: "10.1.0.13", hostname: "web-2", nodeName: "node-2", targetRef: samplePod("web-2") }],
      ports: SAMPLE_PORTS,
    },
  ],
};

/** The special rules of Endpoints: subsets, their Pod references and the address policy. */
export const ENDPOINTS_KIND: SyncedKind = {
  resource: ENDPOINTS,
  section: "endpoints",
  plural: "Endpoints",
  shortName: "ep",
  help: {
    section: "Endpoints of the tenant cluster, copied to the host cluster.",
    enabled: "Whether Endpoints are synced. If this is false, Services are not synced either.",
  },
  byDefault: true,
  whyNotSynced: "With backends: slices in the settings, no Endpoints are written",
  bodyInWords: "subsets",
  schema: objectOf({ "metadata!": OBJECT_META, ...ENDPOINTS_FIELDS }),
  sample: SAMPLE,
  addresses: {
    first: "subsets[0].addresses[0].ip",
    sampleWith: (count) => ({
      ...SAMPLE,
      subsets: [{ addresses: sampleAddresses(count, (ip, behind) => ({ ip, ...behind })), ports: SAMPLE_PORTS }],
    }),
  },
  besideService: true,
  bodyFlows: true,
  ...PLAIN_KIND,
  ownLabelKeys: [SKIP_MIRROR],
  ownLabels,
  translateBody: (tenant, translator) => ({ subsets: mapAddresses(subsetsOf(tenant), (address) => toHostTarget(address, translator)) }),
  admitBody,
  hostFingerprint: bodyFingerprint,
  tenantFingerprint: bodyFingerprint,
  withBody: (host, desired) => ({ ...host, subsets: subsetsOf(desired) }),
  tenantWithBody,
  mustRecreate: () => false,
};

/**
 * Returns the skip-mirror label: "true" if copied slices replace the mirror, otherwise the value that was decided for the Service. If that
 * value is "false", the copy is being handed back to the mirror: the label on the host then does not prove that the slices were complete
 * before, so they must be complete now.
 */
function ownLabels(_tenant: KubeObject, { slices, host, backends }: LabelSurroundings): Record<string, string> {
  const isHandedBack = backends?.skipMirror === "false";
  const value = replacesMirror(slices, isHandedBack ? undefined : host) ? "true" : backends?.skipMirror;
  return value === undefined ? {} : { [SKIP_MIRROR]: value };
}

/** Remembered, because it is needed several times for each version of an object, and the body of a copy can be the tenant's own list. */
const fingerprint = remembered((subsets: readonly EndpointSubset[]) => sha256Hex(subsetsFingerprint(subsets)));

function bodyFingerprint(object: KubeObject): string {
  return fingerprint(subsetsOf(object));
}

const NO_SUBSETS: readonly EndpointSubset[] = [];

function subsetsOf(object: KubeObject): readonly EndpointSubset[] {
  return (object as Endpoints).subsets ?? NO_SUBSETS;
}

function admitBody(object: KubeObject, rules: Rules): AllowedBody {
  const subsets = object["subsets"] ?? [];
  if (!wellFormed(subsets)) return { object, refusedAddresses: [], rejected: "after the patches, subsets is not a list of address lists" };
  // Patches can remove every address of a subset, and the API server rejects a subset without addresses.
  const filled = subsets.filter(({ addresses = [], notReadyAddresses = [] }) => addresses.length + notReadyAddresses.length > 0);
  const admitted = admitAddresses(filled.length === subsets.length ? subsets : filled, rules.settings.addressPolicy.check);
  const reject = admitted.refused.length > 0 && rules.settings.addressPolicy.action === "reject-object";
  return {
    object: admitted.subsets === object["subsets"] ? object : { ...object, subsets: admitted.subsets },
    refusedAddresses: admitted.refused,
    ...(reject && { rejected: "an address is refused and addressPolicy.action is reject-object" }),
  };
}

/** An expression can return anything, but the address policy must receive only data that it can read. */
function wellFormed(subsets: unknown): subsets is EndpointSubset[] {
  if (!Array.isArray(subsets)) return false;
  for (const subset of subsets as readonly unknown[]) {
    if (!isRecord(subset)) return false;
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
    if (!Array.isArray(ports) || !ports.every(isRecord)) return false;
    for (const list of [addresses, notReadyAddresses]) {
      if (!Array.isArray(list)) return false;
      for (const address of list as readonly unknown[]) if (!isRecord(address) || typeof address["ip"] !== "string") return false;
    }
  }
  return true;
}

/**
 * Returns the same reference if nothing changes, so that remembered results apply to it. Values that are not subsets or lists stay as they
 * are; {@link admitBody} rejects them.
 */
function mapAddresses(
  subsets: readonly EndpointSubset[],
  change: (address: EndpointAddress) => EndpointAddress,
): readonly EndpointSubset[] {
  return mapShared(subsets, (subset) => {
    if (!isRecord(subset)) return subset;
    const { addresses, notReadyAddresses }: EndpointSubset = subset;
    const ready = addresses && mapShared(addresses, change);
    const notReady = notReadyAddresses && mapShared(notReadyAddresses, change);
    if (ready === addresses && notReady === notReadyAddresses) return subset;
    return { ...subset, ...(ready && { addresses: ready }), ...(notReady && { notReadyAddresses: notReady }) };
  });
}

function mapShared<Item>(list: readonly Item[], change: (item: Item) => Item): readonly Item[] {
  if (!Array.isArray(list)) return list;
  const changed = list.map(change);
  for (const [index, item] of changed.entries()) if (item !== list[index]) return changed;
  return list;
}

/** Restores Pod references from the tenant's own ones. Returns undefined if the tenant does not have one of them. */
function tenantWithBody(tenant: KubeObject, reversed: KubeObject, translator: Translator): KubeObject | undefined {
  const subsets = reversed["subsets"] ?? [];
  if (!wellFormed(subsets)) return undefined;
  if (!wellFormed(subsetsOf(tenant))) return undefined;
  const known = subsetsOf(tenant).flatMap(({ addresses = [], notReadyAddresses = [] }) => [...addresses, ...notReadyAddresses]);
  const restore = tenantTargets<EndpointAddress>(known, translator);
  let complete = true;
  const restored = mapAddresses(subsets, (address) => {
    const tenantAddress = restore(address);
    complete &&= tenantAddress !== undefined;
    return tenantAddress ?? address;
  });
  return complete ? { ...tenant, subsets: restored } : undefined;
}
