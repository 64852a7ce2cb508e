import { isRecord } from "../base/json.ts";
import { ENDPOINTS } from "../object/resource.ts";
import { subsetsFingerprint } from "../object/subsets.ts";
import type { EndpointAddress, Endpoints, EndpointSubset, KubeObject, TargetReference } from "../object/types.ts";
import type { Translator } from "../translate/translator.ts";
import { admitAddresses } from "./address-policy.ts";
import type { Admission, Rules, SyncedKind } from "./rules.ts";

/** What is special about Endpoints: subsets, their Pod references and the address policy. */
export const ENDPOINTS_KIND: SyncedKind = {
  resource: ENDPOINTS,
  bodyFlows: true,
  translateBody: (tenant, translator) => ({ subsets: mapAddresses(subsetsOf(tenant), (address) => toHostAddress(address, translator)) }),
  admitBody,
  hostFingerprint: (object) => subsetsFingerprint(subsetsOf(object)),
  tenantFingerprint: (object) => subsetsFingerprint(subsetsOf(object)),
  withBody: (host, desired) => ({ ...host, subsets: subsetsOf(desired) }),
  tenantWithBody,
  mustRecreate: () => false,
};

const POD = { apiVersion: "v1", kind: "Pod" };

function subsetsOf(object: KubeObject): readonly EndpointSubset[] {
  return (object as Endpoints).subsets ?? [];
}

function admitBody(object: KubeObject, rules: Rules): Admission {
  const subsets = object["subsets"] ?? [];
  if (!wellFormed(subsets)) return { object, refusedAddresses: [], rejected: "subsets is no list of address lists after the patches" };
  const admitted = admitAddresses(withoutEmpty(subsets), rules.settings.addressPolicy.check);
  const reject = admitted.refused.length > 0 && rules.settings.addressPolicy.action === "reject-object";
  return {
    object: admitted.subsets === object["subsets"] ? object : { ...object, subsets: admitted.subsets },
    refusedAddresses: admitted.refused,
    ...(reject && { rejected: "an address is refused and addressPolicy.action is reject-object" }),
  };
}

/** Patches can take every address out of a subset, and the API server refuses one without any. */
function withoutEmpty(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
  const filled = subsets.filter(({ addresses = [], notReadyAddresses = [] }) => addresses.length + notReadyAddresses.length > 0);
  return filled.length === subsets.length ? subsets : filled;
}

/** An expression can return anything; the address policy must never be handed something it can not read. */
function wellFormed(subsets: unknown): subsets is EndpointSubset[] {
  const addresses = (list: unknown) =>
    list === undefined || (Array.isArray(list) && list.every((item) => isRecord(item) && typeof item["ip"] === "string"));
  const ports = (list: unknown) => list === undefined || (Array.isArray(list) && list.every(isRecord));
  return (
    Array.isArray(subsets) &&
    subsets.every(
      (item: unknown) => isRecord(item) && addresses(item["addresses"]) && addresses(item["notReadyAddresses"]) && ports(item["ports"]),
    )
  );
}

function mapAddresses(
  subsets: readonly EndpointSubset[],
  change: (address: EndpointAddress) => EndpointAddress,
): readonly EndpointSubset[] {
  return subsets.map((subset) => ({
    ...subset,
    ...(subset.addresses && { addresses: subset.addresses.map(change) }),
    ...(subset.notReadyAddresses && { notReadyAddresses: subset.notReadyAddresses.map(change) }),
  }));
}

/** A Pod runs on the host under its host name; its tenant uid would point at nothing there. */
function toHostAddress(address: EndpointAddress, translator: Translator): EndpointAddress {
  const target = address.targetRef;
  if (target?.kind !== "Pod" || !target.name) return address;
  const host = translator.toHost({ namespace: target.namespace ?? "", name: target.name }, POD);
  if (host === undefined) return withoutTarget(address);
  const { uid: _uid, resourceVersion: _resourceVersion, ...kept } = target;
  return { ...address, targetRef: { ...kept, name: host.name, namespace: host.namespace } };
}

function withoutTarget({ targetRef: _targetRef, ...address }: EndpointAddress): EndpointAddress {
  return address;
}

/** Pod references come back through the tenant's own ones; one that the tenant does not hold has no tenant name. */
function tenantWithBody(tenant: KubeObject, reversed: KubeObject, translator: Translator): KubeObject | undefined {
  const subsets = reversed["subsets"] ?? [];
  if (!wellFormed(subsets)) return undefined;
  const tenantTargets = new Map<string, TargetReference>();
  mapAddresses(subsetsOf(tenant), (address) => {
    const host = toHostAddress(address, translator).targetRef;
    if (address.targetRef && host) tenantTargets.set(`${host.namespace}/${host.name}`, address.targetRef);
    return address;
  });
  let known = true;
  const restored = mapAddresses(subsets, (address) => {
    if (address.targetRef?.kind !== "Pod") return address;
    const target = tenantTargets.get(`${address.targetRef.namespace}/${address.targetRef.name}`);
    known &&= target !== undefined;
    return target === undefined ? address : { ...address, targetRef: target };
  });
  return known ? { ...tenant, subsets: restored } : undefined;
}
