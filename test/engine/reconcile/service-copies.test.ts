import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../src/clusters.ts";
import { NAMESPACES, SERVICES } from "../../../src/kube/object/resource.ts";
import type { KubeObject, Service, StringMap } from "../../../src/kube/object/types.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import { SERVICES_KIND } from "../../../src/engine/kinds/services.ts";
import { createSeededChance } from "../../apiserver/seeded-chance.ts";
import { testRules } from "../../support/rules.ts";

type Spec = NonNullable<Service["spec"]>;

const RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
const KEY = { namespace: "default", name: "web" };
const HOST_KEY = { namespace: "vc", name: "web-x-default-x-blue" };
const PORTS = [{ port: 80 }];
const rules = testRules({ kind: SERVICES_KIND });

let tenantCluster: EmbeddedCluster;
let hostCluster: EmbeddedCluster;
beforeAll(async () => {
  const chance = createSeededChance();
  [tenantCluster, hostCluster] = [await createEmbeddedCluster({ chance }), await createEmbeddedCluster({ chance })];
  await hostCluster.registry.create(NAMESPACES, "", { metadata: { name: HOST_KEY.namespace } });
});
afterAll(() => Promise.all([tenantCluster.stop(), hostCluster.stop()]));

/** Every field that an author may write, in the words that its type allows. */
const common = {
  ports: fc.constantFrom(
    PORTS,
    [{ name: "a", port: 80, targetPort: "http", appProtocol: "kubernetes.io/h2c" }],
    [
      { name: "a", port: 53, protocol: "UDP" },
      { name: "b", port: 53, protocol: "TCP", targetPort: 5353 },
    ],
  ),
  selector: fc.constantFrom(undefined, { app: "web" }),
  sessionAffinity: fc.constantFrom(undefined, "None", "ClientIP"),
  sessionAffinityConfig: fc.constantFrom(undefined, { clientIP: { timeoutSeconds: 60 } }),
  publishNotReadyAddresses: fc.constantFrom(undefined, false, true),
  internalTrafficPolicy: fc.constantFrom(undefined, "Cluster", "Local"),
  trafficDistribution: fc.constantFrom(undefined, "PreferClose"),
  ipFamilyPolicy: fc.constantFrom(undefined, "SingleStack", "PreferDualStack"),
  ipFamilies: fc.constantFrom(undefined, ["IPv4"]),
  externalIPs: fc.constantFrom(undefined, ["192.0.2.1"]),
};
const policy = fc.constantFrom(undefined, "Cluster", "Local");
const balanced = {
  externalTrafficPolicy: policy,
  allocateLoadBalancerNodePorts: fc.constantFrom(undefined, false, true),
  loadBalancerClass: fc.constantFrom(undefined, "example.com/fast"),
  loadBalancerIP: fc.constantFrom(undefined, "192.0.2.2"),
  loadBalancerSourceRanges: fc.constantFrom(undefined, ["10.0.0.0/8"]),
};
const ranges = fc.constantFrom<StringMap[]>({}, { [RANGES]: "10.0.0.0/8, 192.0.2.0/24" });
const NO_ANNOTATIONS = fc.constant<StringMap>({});
const ANY_SERVICE: Record<string, fc.Arbitrary<{ spec: Spec; annotations: StringMap }>> = {
  ClusterIP: fc.record({
    spec: fc.record({ type: fc.constantFrom(undefined, "ClusterIP"), clusterIP: fc.constantFrom(undefined, "None"), ...common }),
    annotations: NO_ANNOTATIONS,
  }) as never,
  NodePort: fc.record({
    spec: fc.record({ type: fc.constant("NodePort"), externalTrafficPolicy: policy, ...common }),
    annotations: NO_ANNOTATIONS,
  }) as never,
  LoadBalancer: fc.record({ spec: fc.record({ type: fc.constant("LoadBalancer"), ...balanced, ...common }), annotations: ranges }) as never,
};

function written(name: string, { spec, annotations }: { spec: Spec; annotations: StringMap }): KubeObject {
  const present = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined));
  return { apiVersion: "v1", kind: "Service", metadata: { name, annotations }, spec: present };
}

function operationOf(tenant: KubeObject, host: KubeObject | undefined) {
  const planned = plan(rules, { key: KEY, tenant: tenant as Service, host });
  expect(planned.operations.length).toBeLessThanOrEqual(1);
  const [operation] = planned.operations;
  if (operation?.action === "delete") throw new Error("nothing here needs a new copy");
  return { planned, object: operation?.object };
}

/** The stored host object of a tenant Service without a copy. */
async function copied(given: { spec: Spec; annotations: StringMap }): Promise<{ tenant: KubeObject; host: KubeObject }> {
  await Promise.allSettled([tenantCluster.registry.delete(SERVICES, KEY), hostCluster.registry.delete(SERVICES, HOST_KEY)]);
  const tenant = await tenantCluster.registry.create(SERVICES, KEY.namespace, written(KEY.name, given));
  const host = await hostCluster.registry.create(SERVICES, HOST_KEY.namespace, operationOf(tenant, undefined).object!);
  return { tenant, host };
}

describe.each(Object.keys(ANY_SERVICE))("the copy of a Service of type %s", (type) => {
  test("is one that the host accepts, and rests there", async () => {
    await fc.assert(
      fc.asyncProperty(ANY_SERVICE[type]!, async (given) => {
        const { tenant, host } = await copied(given);
        expect(operationOf(tenant, host).object).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });

  test("is restored, whatever type it was given on the host", async () => {
    await fc.assert(
      fc.asyncProperty(ANY_SERVICE[type]!, fc.constantFrom("NodePort", "LoadBalancer", "ClusterIP"), fc.gen(), async (given, to, any) => {
        const { tenant, host } = await copied(given);
        const edit = any(() => ANY_SERVICE[to]!);
        const { spec, metadata } = host as Service;
        const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = spec as Record<string, unknown>;
        const headless = clusterIP === "None";
        const kept = headless ? {} : { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy };
        if (!headless && edit.spec.clusterIP !== "None") {
          const body = written(HOST_KEY.name, {
            annotations: { ...metadata.annotations, ...edit.annotations },
            spec: { ...edit.spec, ...kept } as Spec,
          });
          const object = { ...body, metadata: { ...metadata, ...body.metadata } };
          const edited = (await hostCluster.registry.update(SERVICES, HOST_KEY, object)).object;
          const restoring = operationOf(tenant, edited);
          const restored =
            restoring.object === undefined ? edited : (await hostCluster.registry.update(SERVICES, HOST_KEY, restoring.object)).object;
          expect(operationOf(tenant, restored).object).toBeUndefined();
          expect((restored as Service).spec).toMatchObject({ type: "ClusterIP" });
          expect(restored.metadata.annotations).not.toHaveProperty([RANGES]);
        }
      }),
      { numRuns: 150 },
    );
  });
});

test("an annotation that only a load balancer may have is left out with a note, and no host edit brings it to the tenant", async () => {
  const { tenant, host } = await copied({ spec: { type: "LoadBalancer", ports: PORTS }, annotations: { [RANGES]: "10.0.0.0/8" } });
  expect(operationOf(tenant, host).planned.notes).toEqual([
    {
      code: "FIELD_LEFT_OUT",
      message: `metadata.annotations["${RANGES}"] was left out: the API server refuses it on a Service of the copy's type`,
    },
  ]);
  const spec = { ...(host as Service).spec, type: "LoadBalancer" };
  const edited = { ...host, metadata: { ...host.metadata, annotations: { ...host.metadata.annotations, [RANGES]: "192.0.2.0/24" } }, spec };
  const stored = (await hostCluster.registry.update(SERVICES, HOST_KEY, edited)).object;
  expect(operationOf(tenant, stored).planned.operations).toMatchObject([{ side: "host", action: "update" }]);
});
