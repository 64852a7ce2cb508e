import { describe, expect, test } from "vitest";
import type { Code } from "../../../../src/base/codes.ts";
import { invisibleBackends, type InvisibleBackends } from "../../../../src/engine/sync/inspect/invisible-backends.ts";
import { ENDPOINT_SLICES_KIND } from "../../../../src/engine/kinds/endpoint-slices.ts";
import { compileAddressPolicy } from "../../../../src/engine/reconcile/rules/address-policy.ts";
import { plan } from "../../../../src/engine/reconcile/plan.ts";
import type { Rules } from "../../../../src/engine/reconcile/rules/rules.ts";
import { SERVICES } from "../../../../src/kube/object/resource.ts";
import type { EndpointSubset, KubeObject } from "../../../../src/kube/object/types.ts";
import { selectorOf } from "../../../../src/kube/object/selector.ts";
import { namedService, service, stored, tenantEndpoints, testRules, type TestMeta } from "../../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };
const EXTERNAL = { services: "external" } as const;

function slice(
  where: "shop" | "vc",
  addresses: readonly string[],
  { manager = "operator", addressType = "IPv4", ...meta }: TestMeta & { manager?: string; addressType?: string } = {},
): KubeObject {
  const service = where === "shop" ? "web" : "web-x-shop-x-blue";
  const labels = { "kubernetes.io/service-name": service, "endpointslice.kubernetes.io/managed-by": manager, ...meta.labels };
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { namespace: where, name: `${service}-1`, uid: "uid-slice", ...meta, labels },
    addressType,
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: "", port: 80, protocol: "TCP" }],
  };
}

interface Case {
  readonly rules?: Rules;
  readonly subsets?: readonly EndpointSubset[];
  readonly tenantMeta?: TestMeta;
  readonly tenantSlices?: readonly KubeObject[];
  readonly hostSlices?: readonly KubeObject[];
  readonly hostService?: KubeObject | undefined;
  /** "alone": Endpoints are not read. "decided": as with backends: auto. */
  readonly slicesAreSynced?: true | "alone" | "decided";
  readonly patched?: true;
  /** The copy of Endpoints is not there yet. */
  readonly uncopied?: boolean;
  /** An object of others has the name of the copy. */
  readonly taken?: boolean;
  /** Copies are held up. */
  readonly withheld?: Code | "unknown";
}

function copyOfSlice(tenant: KubeObject): KubeObject {
  const rules = { ...testRules(EXTERNAL), kind: ENDPOINT_SLICES_KIND };
  const around = { tenantService: service("shop", "web", {}), hostService: namedService() };
  const [operation] = plan(rules, { key: { namespace: "shop", name: "web-1" }, tenant, host: undefined, ...around }).operations;
  if (operation?.action !== "create") throw new Error("the first plan creates");
  return stored(operation.object, "30");
}

/** Numbers, and what the message says of the remedy. */
function found(one: Case): string[] {
  const says = (text: string) =>
    /let the syncer copy|kube-controller-manager|remove or rename|copy is missing( \(API_FORBIDDEN\))?|set backends: both/.exec(text)?.[0];
  return findingsOf(one).map(({ ready, seen, note }) => `${note.code} ${seen}/${ready} ${says(note.message)}`);
}

function findingsOf({
  rules = testRules(EXTERNAL),
  subsets,
  tenantMeta,
  tenantSlices = [],
  hostSlices = [],
  slicesAreSynced,
  uncopied,
  taken,
  withheld,
  patched,
  ...options
}: Case): InvisibleBackends[] {
  const endpoints = subsets === undefined ? undefined : tenantEndpoints(tenantMeta, subsets);
  const around = { tenantService: service("shop", "web", {}), hostService: namedService() };
  const planned = endpoints && plan(rules, { key: KEY, tenant: endpoints, host: undefined, ...around });
  const [operation] = planned?.operations ?? [];
  const copied = operation?.action === "create" && uncopied !== true ? stored(operation.object, "20") : undefined;
  const copy = taken === true ? { ...copied!, metadata: { name: "web-x-shop-x-blue", namespace: "vc", uid: "uid-other" } } : copied;
  const hostService = "hostService" in options ? options.hostService : namedService();
  const ofSlices = { ...rules, kind: ENDPOINT_SLICES_KIND, decidesBackends: slicesAreSynced === "decided" };
  const synced = [...(slicesAreSynced === undefined ? [] : [ofSlices]), ...(slicesAreSynced === "alone" ? [] : [rules])];
  return invisibleBackends({
    rules: synced,
    services: [KEY],
    patched,
    ...(withheld && { withheld: () => withheld }),
    tenant: { get: (resource) => (resource === SERVICES ? around.tenantService : endpoints), slices: tenantSlices },
    host: { get: (resource) => (resource === SERVICES ? hostService : copy), slices: hostSlices },
  });
}

const TWO: readonly EndpointSubset[] = [
  { addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], notReadyAddresses: [{ ip: "10.0.0.3" }], ports: [{ port: 80 }] },
];
const PODS = { manager: "endpointslice-controller.k8s.io" };
const SECOND_FAMILY = slice("shop", ["fd00::1"], { ...PODS, addressType: "IPv6" });
const SHOWN = [slice("vc", ["10.0.0.1", "10.0.0.2"], { manager: "endpointslicemirroring-controller.k8s.io" })];
const OVER = { annotations: { "endpoints.kubernetes.io/over-capacity": "truncated" } };
/** The copy of an earlier version of the slice, which patches have changed. */
const STALE = copyOfSlice(slice("shop", ["10.0.0.8"]));
const ANNOTATED = { annotations: { "sync.platform/pause": "true" } };
const NO_TENS = { addressPolicy: compileAddressPolicy({ allow: [], deny: ["10.0.0.0/8"], action: "drop-address" }) };
const denying = testRules({ ...EXTERNAL, settings: NO_TENS });
const MIRROR = { manager: "endpointslicemirroring-controller.k8s.io" };

test("the message names nothing of the host, because it becomes an Event of the tenant", () => {
  const [taken] = findingsOf({ subsets: TWO, taken: true });
  expect(taken?.note.message).toContain("HOST_OBJECT_FOREIGN");
  expect(taken?.note.message).not.toContain("x-shop-x-blue");
});

describe("told as invisible", () => {
  test.each<Case & { why: string; says: string }>([
    { why: "a copy of Endpoints without slices", subsets: TWO, says: "0/2 kube-controller-manager" },
    {
      why: "the same where the tenant has slices",
      subsets: TWO,
      tenantSlices: [slice("shop", ["10.0.0.1", "10.0.0.2"], MIRROR)],
      says: "0/2 let the syncer copy",
    },
    {
      why: "one address that a mirror has left out",
      subsets: TWO,
      hostSlices: [slice("vc", ["10.0.0.1"], MIRROR)],
      says: "1/2 kube-controller-manager",
    },
    {
      why: "slices of another Service",
      subsets: TWO,
      hostSlices: [slice("vc", ["10.0.0.1", "10.0.0.2"], { labels: { "kubernetes.io/service-name": "other" } })],
      says: "0/2 kube-controller-manager",
    },
    { why: "Endpoints whose place others have taken", subsets: TWO, taken: true, says: "0/2 remove or rename" },
    { why: "slices alone", tenantSlices: [slice("shop", ["10.0.0.9"])], says: "0/1 let the syncer copy" },
    {
      why: "slices that a controller makes of Pods, without Endpoints",
      tenantSlices: [slice("shop", ["10.0.0.9"], { manager: "endpointslice-controller.k8s.io" })],
      says: "0/1 let the syncer copy",
    },
    {
      why: "slices of users beside Endpoints",
      subsets: TWO,
      tenantSlices: [slice("shop", ["10.0.0.9"])],
      hostSlices: [slice("vc", ["10.0.0.1", "10.0.0.2"], MIRROR)],
      says: "2/3 let the syncer copy",
    },
    { why: "Endpoints without slices where slices are synced", subsets: TWO, slicesAreSynced: true, says: "0/2 kube-controller-manager" },
    {
      why: "what a mirror cuts off behind a thousand",
      subsets: [
        { addresses: Array.from({ length: 1_001 }, (_, index) => ({ ip: `10.1.${index >> 8}.${index & 255}` })), ports: [{ port: 80 }] },
      ],
      hostSlices: [
        slice(
          "vc",
          Array.from({ length: 1_000 }, (_, index) => `10.1.${index >> 8}.${index & 255}`),
          MIRROR,
        ),
      ],
      says: "1000/1001 kube-controller-manager",
    },
    { why: "a copy that the host refuses", subsets: TWO, uncopied: true, withheld: "API_INVALID", says: "0/2 copy is missing" },
    {
      why: "a Service and Endpoints that the host refuses",
      ...{ rules: testRules(), subsets: TWO, uncopied: true, hostService: undefined, withheld: "API_INVALID" },
      says: "0/2 copy is missing",
    },
    {
      why: "the second family of Pods, where Endpoints alone are copied",
      ...{ subsets: TWO, tenantSlices: [SECOND_FAMILY], hostSlices: SHOWN },
      says: "2/3 let the syncer copy",
    },
    {
      why: "the second family of Pods, which patches of Endpoints keep from being copied",
      ...{ subsets: TWO, tenantSlices: [SECOND_FAMILY], hostSlices: SHOWN, slicesAreSynced: "decided", patched: true },
      says: "2/3 set backends: both",
    },
    {
      why: "what Endpoints over capacity leave out",
      ...{ subsets: TWO, tenantMeta: OVER, tenantSlices: [slice("shop", ["10.0.0.1", "10.0.0.4"], PODS)], hostSlices: SHOWN },
      says: "2/3 let the syncer copy",
    },
    {
      why: "slices of Pods beside empty Endpoints",
      ...{ subsets: [], tenantSlices: [slice("shop", ["10.0.0.1"], PODS)] },
      says: "0/1 let the syncer copy",
    },
    {
      why: "a slice whose copy the host refuses",
      ...{ subsets: TWO, tenantSlices: [slice("shop", ["10.0.0.9"])], hostSlices: SHOWN, slicesAreSynced: true, withheld: "API_FORBIDDEN" },
      says: "2/3 copy is missing (API_FORBIDDEN)",
    },
    {
      why: "the same without Endpoints",
      ...{ tenantSlices: [slice("shop", ["10.0.0.9"])], slicesAreSynced: "alone", withheld: "API_FORBIDDEN" },
      says: "0/1 copy is missing (API_FORBIDDEN)",
    },
    {
      why: "the same of a slice of Pods where it is decided for each Service",
      ...{ tenantSlices: [slice("shop", ["10.0.0.9"], PODS)], slicesAreSynced: "decided", withheld: "API_FORBIDDEN" },
      says: "0/1 copy is missing (API_FORBIDDEN)",
    },
    {
      why: "a slice in whose place others have one",
      ...{ tenantSlices: [slice("shop", ["10.0.0.9"])], slicesAreSynced: "alone" },
      hostSlices: [{ ...slice("vc", ["10.0.0.8"]), metadata: { namespace: "vc", name: "web-1-x-shop-x-blue", uid: "uid-other" } }],
      says: "0/1 remove or rename",
    },
    {
      why: "what the host refuses, and not first what is not copied beside it",
      ...{ subsets: TWO, uncopied: true, tenantSlices: [slice("shop", ["10.0.0.9"])], withheld: "API_FORBIDDEN" },
      says: "0/3 copy is missing (API_FORBIDDEN)",
    },
    { why: "a copy that an inspection does not find", subsets: TWO, uncopied: true, withheld: "unknown", says: "0/2 copy is missing" },
  ])("$why", ({ why: _why, says, ...one }) => {
    expect(found(one)).toEqual([`BACKENDS_INVISIBLE ${says}`]);
  });
});

describe("not reported", () => {
  test.each<Case & { why: string }>([
    { why: "what a mirror shows", subsets: TWO, hostSlices: [slice("vc", ["10.0.0.1", "10.0.0.2"], MIRROR)] },
    {
      why: "what slices show where others have taken the place of the copy",
      subsets: TWO,
      taken: true,
      hostSlices: [slice("vc", ["10.0.0.1", "10.0.0.2"])],
    },
    { why: "what several slices show together", subsets: TWO, hostSlices: [slice("vc", ["10.0.0.1"]), slice("vc", ["10.0.0.2"])] },
    { why: "what is not ready", subsets: [{ notReadyAddresses: [{ ip: "10.0.0.3" }], ports: [{ port: 80 }] }] },
    { why: "Endpoints without addresses", subsets: [] },
    { why: "paused Endpoints", subsets: TWO, tenantMeta: ANNOTATED },
    { why: "a paused slice", tenantSlices: [slice("shop", ["10.0.0.9"], ANNOTATED)] },
    {
      why: "Endpoints that are not selected",
      rules: testRules({ ...EXTERNAL, settings: { selector: selectorOf({ matchLabels: { app: "web" } }) } }),
      subsets: TWO,
    },
    {
      why: "a slice of another Service",
      tenantSlices: [slice("shop", ["10.0.0.9"], { labels: { "kubernetes.io/service-name": "other" } })],
    },
    { why: "addresses of Endpoints that the policy refuses", rules: denying, subsets: TWO },
    { why: "addresses of slices that the policy refuses", rules: denying, tenantSlices: [slice("shop", ["10.0.0.9"])] },
    { why: "a copy that is still to come", subsets: TWO, uncopied: true },
    { why: "a Service that has no host Service yet", subsets: TWO, hostService: undefined },
    {
      why: "what others take the traffic of, also where a copy is missing",
      ...{ subsets: TWO, uncopied: true, withheld: "API_INVALID" },
      hostService: service("vc", "web-x-shop-x-blue", {}),
    },
    {
      why: "a copy that is stale, which is reported otherwise",
      subsets: TWO,
      withheld: "API_INVALID",
      hostSlices: [slice("vc", ["10.0.0.1", "10.0.0.2"], MIRROR)],
    },
    { why: "a foreign host Service", subsets: TWO, hostService: service("vc", "web-x-shop-x-blue", {}) },
    { why: "a host Service whose backends the host selects", subsets: TWO, hostService: namedService({ selector: { app: "web" } }) },
    { why: "Endpoints whose sync is switched off", rules: testRules({ ...EXTERNAL, enabled: false }), subsets: TWO },
    {
      why: "slices where the sync is switched off",
      rules: testRules({ ...EXTERNAL, enabled: false }),
      tenantSlices: [slice("shop", ["10.0.0.9"])],
    },
    { why: "a copy of a slice that is still to come", slicesAreSynced: true, tenantSlices: [slice("shop", ["10.0.0.9"])] },
    {
      why: "slices of Pods of the families that Endpoints have, whatever patches make of their addresses",
      ...{ subsets: TWO, tenantSlices: [slice("shop", ["10.0.0.7"], PODS)], hostSlices: SHOWN, patched: true },
    },
    {
      why: "the second family of Pods, where the host Service has only one",
      ...{ subsets: TWO, tenantSlices: [SECOND_FAMILY], hostSlices: SHOWN, patched: true },
      hostService: namedService({ clusterIP: "10.96.0.1", ipFamilies: ["IPv4"] }),
    },
    {
      why: "slices of Pods beside paused Endpoints",
      ...{ subsets: TWO, tenantMeta: ANNOTATED, tenantSlices: [SECOND_FAMILY] },
    },
    {
      why: "a mirror's slices beside Endpoints, whose copies the host refuses",
      ...{ subsets: TWO, tenantSlices: [slice("shop", ["10.0.0.7"], MIRROR)], slicesAreSynced: true, withheld: "API_FORBIDDEN" },
      hostSlices: SHOWN,
    },
    {
      why: "a slice whose copy is not what it was, which is reported otherwise",
      ...{ tenantSlices: [slice("shop", ["10.0.0.9"])], slicesAreSynced: "alone", withheld: "API_INVALID", hostSlices: [STALE] },
    },
    {
      why: "a namespace that is not mapped",
      rules: testRules({ ...EXTERNAL, translator: { mode: "multi-namespace", mappingsOnly: true } }),
      subsets: TWO,
    },
  ])("$why", ({ why: _why, ...one }) => {
    expect(found(one)).toEqual([]);
  });
});

test("a copied slice that no longer names the host Service comes with a remedy", () => {
  const tenant = slice("shop", ["10.0.0.9"]);
  const copy = copyOfSlice(tenant);
  const labels = { ...copy.metadata.labels, "kubernetes.io/service-name": "other" };
  const hostSlices = [{ ...copy, metadata: { ...copy.metadata, labels } }];
  const [finding] = findingsOf({ tenantSlices: [tenant], slicesAreSynced: "alone", hostSlices });
  expect(finding?.note.message).toMatch(/readers on the host see 0: a copied slice does not name the host Service/);
});

test.each([
  { auto: "configured", says: /with backends: auto, a running syncer copies or creates the missing slices, unless it lacks permissions/ },
  {
    auto: "without permissions",
    says: /the syncer lacks the permissions on EndpointSlices for backends: auto; grant those .* and restart the syncer$/,
  },
] as const)("where backends: auto is $auto, it is not the remedy", ({ auto, says }) => {
  const around = { tenantService: service("shop", "web", {}), hostService: namedService() };
  const rules = testRules(EXTERNAL);
  const tenant = tenantEndpoints({}, TWO);
  const [operation] = plan(rules, { key: KEY, tenant, host: undefined, ...around }).operations;
  const copy = operation?.action === "create" ? stored(operation.object, "20") : undefined;
  const [found] = invisibleBackends({
    rules: [rules],
    services: [KEY],
    auto,
    tenant: { get: (resource) => (resource === SERVICES ? around.tenantService : tenant), slices: [] },
    host: { get: (resource) => (resource === SERVICES ? around.hostService : copy), slices: [] },
  });
  expect(found?.note.message).toMatch(says);
  expect(found?.note.message).not.toMatch(/in the settings/);
});
