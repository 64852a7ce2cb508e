import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { createHttpClient } from "../../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../../src/kube/client/kube-config.ts";
import { startCluster, type Cluster } from "../../../../src/cluster/cluster.ts";
import { resolveConfig } from "../../../../src/engine/config/config.ts";
import { createEngine } from "../../../../src/engine/engine.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, LEASES, NAMESPACES, qualifiedPlural, SECRETS, SERVICES } from "../../../../src/kube/object/resource.ts";
import {
  describePermission,
  electionPermissions,
  isAllowed,
  requiredPermissions,
  type Permission,
} from "../../../../src/engine/sync/cluster/permissions.ts";

const VCLUSTER = { name: "blue", namespace: "vc-blue" };
const ENDPOINTS_ONLY = { services: { enabled: false } };
const REFERENCE = { path: 'metadata.annotations["example.com/key"]', reference: { apiVersion: "v1", kind: "Secret" } };

async function permissionsOf(toHost: Record<string, unknown>, services: "managed" | "external" = "managed") {
  const parsed = resolveConfig({ sync: { toHost } });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const engine = await createEngine({ config: parsed.config, vcluster: VCLUSTER, services });
  engine.dispose();
  return requiredPermissions(engine);
}

/** "list,watch services in vc-blue of host", sorted; required ones only unless `all`. */
function texts(permissions: readonly Permission[], required = true): string[] {
  const groups = new Map<string, string[]>();
  for (const one of permissions.filter((permission) => permission.required === required)) {
    const place = `${qualifiedPlural(one.resource)} in ${one.namespace === "" ? "all" : one.namespace} of ${one.side}`;
    groups.set(place, [...(groups.get(place) ?? []), one.verb]);
  }
  return [...groups].map(([place, verbs]) => `${verbs.sort().join(",")} ${place}`).sort();
}

describe("what is needed", () => {
  test.each([
    {
      why: "by default Services, Endpoints and slices, both ways",
      toHost: {},
      want: [
        "create,delete,get,list,update,watch endpoints in vc-blue of host",
        "create,delete,get,list,update,watch endpointslices.discovery.k8s.io in vc-blue of host",
        "create,delete,get,list,update,watch services in vc-blue of host",
        "get,list,update,watch endpoints in all of tenant",
        "get,list,update,watch endpointslices.discovery.k8s.io in all of tenant",
        "get,list,update,watch services in all of tenant",
      ],
    },
    {
      why: "Services are only read where they are not synced",
      toHost: ENDPOINTS_ONLY,
      want: [
        "create,delete,get,list,update,watch endpoints in vc-blue of host",
        "create,delete,get,list,update,watch endpointslices.discovery.k8s.io in vc-blue of host",
        "get,list,update,watch endpoints in all of tenant",
        "get,list,update,watch endpointslices.discovery.k8s.io in all of tenant",
        "get,list,watch services in all of tenant",
        "get,list,watch services in vc-blue of host",
      ],
    },
    {
      why: "where slices are synced by their section, copies of Endpoints are not read back",
      toHost: { ...ENDPOINTS_ONLY, endpointSlices: { enabled: true } },
      want: [
        "create,delete,list,update,watch endpoints in vc-blue of host",
        "create,delete,list,update,watch endpointslices.discovery.k8s.io in vc-blue of host",
        "get,list,update,watch endpoints in all of tenant",
        "get,list,update,watch endpointslices.discovery.k8s.io in all of tenant",
        "get,list,watch services in all of tenant",
        "get,list,watch services in vc-blue of host",
      ],
    },
    {
      why: "nothing is written where the sync is off",
      toHost: { ...ENDPOINTS_ONLY, endpoints: { enabled: false } },
      want: [
        "list,watch endpoints in all of tenant",
        "list,watch endpoints in vc-blue of host",
        "list,watch services in all of tenant",
        "list,watch services in vc-blue of host",
      ],
    },
    {
      why: "copies of referenced Secrets are written where they go: to the tenant",
      toHost: { ...ENDPOINTS_ONLY, endpoints: { patches: [REFERENCE] } },
      want: [
        "create,delete,get,list,update,watch endpoints in vc-blue of host",
        "create,delete,get,list,update,watch endpointslices.discovery.k8s.io in vc-blue of host",
        "create,delete,update secrets in all of tenant",
        "get,list,update,watch endpoints in all of tenant",
        "get,list,update,watch endpointslices.discovery.k8s.io in all of tenant",
        "get,list,watch services in all of tenant",
        "get,list,watch services in vc-blue of host",
      ],
    },
    {
      why: "or to the host",
      toHost: { ...ENDPOINTS_ONLY, secrets: { enabled: true }, endpoints: { patches: [REFERENCE] } },
      want: [
        "create,delete,get,list,update,watch endpoints in vc-blue of host",
        "create,delete,get,list,update,watch endpointslices.discovery.k8s.io in vc-blue of host",
        "create,delete,update secrets in vc-blue of host",
        "get,list,update,watch endpoints in all of tenant",
        "get,list,update,watch endpointslices.discovery.k8s.io in all of tenant",
        "get,list,watch services in all of tenant",
        "get,list,watch services in vc-blue of host",
      ],
    },
    {
      why: "with mapped namespaces lists are across all, writes in each",
      toHost: { ...ENDPOINTS_ONLY, namespaces: { enabled: true, mappings: { byName: { shop: "vc-shop" } } } },
      want: [
        "create,delete,get,update endpoints in vc-blue of host",
        "create,delete,get,update endpoints in vc-shop of host",
        "create,delete,get,update endpointslices.discovery.k8s.io in vc-blue of host",
        "create,delete,get,update endpointslices.discovery.k8s.io in vc-shop of host",
        "get services in vc-blue of host",
        "get services in vc-shop of host",
        "get,list,update,watch endpoints in all of tenant",
        "get,list,update,watch endpointslices.discovery.k8s.io in all of tenant",
        "get,list,watch services in all of tenant",
        "list,watch endpoints in all of host",
        "list,watch endpointslices.discovery.k8s.io in all of host",
        "list,watch services in all of host",
      ],
    },
    {
      why: "nothing is written in the namespace of the virtual cluster where only mapped namespaces are synced",
      toHost: { ...ENDPOINTS_ONLY, namespaces: { enabled: true, mappingsOnly: true, mappings: { byName: { shop: "vc-shop" } } } },
      want: [
        "create,delete,get,update endpoints in vc-shop of host",
        "create,delete,get,update endpointslices.discovery.k8s.io in vc-shop of host",
        "get services in vc-shop of host",
        "get,list,update,watch endpoints in all of tenant",
        "get,list,update,watch endpointslices.discovery.k8s.io in all of tenant",
        "get,list,watch services in all of tenant",
        "list,watch endpoints in all of host",
        "list,watch endpointslices.discovery.k8s.io in all of host",
        "list,watch services in all of host",
      ],
    },
  ])("$why", async ({ toHost, want }) => {
    expect(texts(await permissionsOf(toHost))).toEqual(want);
  });

  test("what works without, or may be granted by name, is only worth having", async () => {
    expect(texts(await permissionsOf({ endpoints: { patches: [REFERENCE] } }), false)).toEqual([
      "create events in all of tenant",
      "create events in vc-blue of host",
      "get namespaces in all of host",
      "get,get namespaces in all of tenant",
      "get,list,watch secrets in all of tenant",
      "get,list,watch secrets in vc-blue of host",
    ]);
  });

  test("namespaces that a pattern leaves open cannot be asked for", async () => {
    const permissions = await permissionsOf({ namespaces: { enabled: true, mappings: { byName: { "team-*": "blue-*" } } } });
    expect(texts(permissions).filter((text) => /create|delete/.test(text))).toEqual([]);
  });
});

describe("in words", () => {
  const permission = { side: "host", verb: "update", resource: ENDPOINTS, namespace: "vc-blue", required: true } as const;
  test.each<{ one: Permission; want: string }>([
    {
      one: permission,
      want: 'update endpoints in namespace "vc-blue" of the host cluster: grant verb "update" on resource "endpoints" of API group "" in that namespace to the user of the host kubeconfig',
    },
    {
      one: { ...permission, side: "tenant", namespace: "" },
      want: 'update endpoints in all namespaces of the tenant cluster: grant verb "update" on resource "endpoints" of API group "" by a ClusterRole to the user of the tenant kubeconfig',
    },
    {
      one: { ...permission, verb: "get", resource: NAMESPACES, namespace: "", name: "kube-system" },
      want: 'get namespaces "kube-system" of the host cluster: grant verb "get" on resource "namespaces" of API group "" by a ClusterRole to the user of the host kubeconfig',
    },
  ])("$want", ({ one, want }) => expect(describePermission(one)).toBe(want));
});

describe("asked of a cluster", () => {
  let cluster: Cluster;
  let client: ClusterClient;
  beforeAll(async () => {
    cluster = await startCluster({ name: "host" });
    const rbac = (kind: string, plural: string) => ({ apiVersion: "rbac.authorization.k8s.io/v1", kind, plural, namespaced: true });
    const metadata = { name: "sync", namespace: "vc-blue" };
    await cluster.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "vc-blue" } });
    await cluster.client.create(rbac("Role", "roles"), {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata,
      rules: [
        { apiGroups: [""], resources: ["endpoints"], verbs: ["update"] },
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["endpoint-sync-blue"], verbs: ["get", "update"] },
      ],
    });
    await cluster.client.create(rbac("RoleBinding", "rolebindings"), {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "sync" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "sync" }],
    });
    const { kubeconfig } = await cluster.tokenFor({ user: "sync" });
    client = createHttpClient({ kubeConfig: await loadKubeConfig({ text: kubeconfig }), clock: systemClock, mayWrite: () => false });
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  test.each([
    { why: "what a role grants", resource: ENDPOINTS, verb: "update", namespace: "vc-blue", want: true },
    { why: "another verb", resource: ENDPOINTS, verb: "create", namespace: "vc-blue", want: false },
    { why: "another kind", resource: SECRETS, verb: "update", namespace: "vc-blue", want: false },
    { why: "another namespace", resource: ENDPOINTS, verb: "update", namespace: "default", want: false },
    { why: "all namespaces", resource: ENDPOINTS, verb: "update", namespace: "", want: false },
    { why: "another kind of the same group", resource: SERVICES, verb: "update", namespace: "vc-blue", want: false },
  ] as const)("says $want for $why, even to a process that must not write", async ({ want, why: _why, ...rest }) => {
    expect(await isAllowed(client, { side: "host", required: true, ...rest })).toBe(want);
  });

  test("understands roles that name their objects", async () => {
    const asked = electionPermissions({ namespace: "vc-blue", name: "endpoint-sync-blue" });
    const answers = await Promise.all(asked.map(async (one) => [one.verb, one.resource === LEASES && (await isAllowed(client, one))]));
    expect(answers).toEqual([
      ["create", false],
      ["get", true],
      ["update", true],
    ]);
  });
});
