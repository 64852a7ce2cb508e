/** Bodies that no API server sends, but a file, a test or an embedder may. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isEngineError } from "../../../src/base/errors.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { patcherOf } from "../../../src/engine/patcher.ts";
import { ENDPOINT_SLICES_KIND } from "../../../src/engine/kinds/endpoint-slices.ts";
import { ENDPOINTS_KIND } from "../../../src/engine/kinds/endpoints.ts";
import { SERVICES_KIND } from "../../../src/engine/kinds/services.ts";
import { testRules } from "../../support/rules.ts";

const patcher = patcherOf([SERVICES_KIND, ENDPOINT_SLICES_KIND, ENDPOINTS_KIND].map((kind) => testRules({ kind })));

function tenantObject(kind: string, body: Record<string, unknown>): KubeObject {
  const apiVersion = kind === "EndpointSlice" ? "discovery.k8s.io/v1" : "v1";
  return { apiVersion, kind, metadata: { name: "web", namespace: "shop", uid: "1", resourceVersion: "1" }, ...body };
}

const POD = { kind: "Pod", name: "p", namespace: "shop" };

describe("an object that no API server sends is rejected, and not met with a TypeError", () => {
  test.each([
    ["Endpoints", { subsets: [null] }],
    ["Endpoints", { subsets: ["a"] }],
    ["Endpoints", { subsets: { addresses: [] } }],
    ["Endpoints", { subsets: [{ addresses: [null] }] }],
    ["Endpoints", { subsets: [{ addresses: { ip: "10.0.0.1" } }] }],
    ["Endpoints", { subsets: [{ notReadyAddresses: [null, { ip: "10.0.0.1", targetRef: POD }] }] }],
    ["EndpointSlice", { addressType: "IPv4", endpoints: [null] }],
    ["EndpointSlice", { addressType: "IPv4", endpoints: {} }],
    ["Service", { spec: { ports: [null] } }],
    ["Service", { spec: { ports: {} } }],
  ])("%s %j", (kind, body) => {
    const object = tenantObject(kind, body);
    expect(patcher.toHost(object).rejected).toMatch(
      /^after the patches, (subsets is not a list|endpoints or ports are not|spec is not valid)/,
    );
    const host = tenantObject(kind, { ...body, metadata: { name: "web-x-shop-x-blue", namespace: "vc" } });
    expect(patcher.toTenant(host, { tenant: object }).object.metadata.name).toBe("web");
  });
});

const json = fc.jsonValue({ maxDepth: 2 });
const address = fc.oneof(
  json,
  fc.record({ ip: json, targetRef: fc.oneof(json, fc.record({ kind: fc.constant("Pod"), name: json, namespace: json })) }),
);
const list = (item: fc.Arbitrary<unknown>) => fc.oneof(json, fc.array(item, { maxLength: 3 }));
const bodies = fc.oneof(
  fc.tuple(
    fc.constant("Endpoints"),
    fc.record({ subsets: list(fc.oneof(json, fc.record({ addresses: list(address), notReadyAddresses: list(address), ports: json }))) }),
  ),
  fc.tuple(
    fc.constant("EndpointSlice"),
    fc.record({ addressType: fc.oneof(json, fc.constant("IPv4")), endpoints: list(address), ports: json }),
  ),
  fc.tuple(fc.constant("Service"), fc.record({ spec: fc.oneof(json, fc.record({ ports: list(json), selector: json, type: json })) })),
);

test("any JSON is answered, or refused with a code", () => {
  fc.assert(
    fc.property(bodies, bodies, ([kind, body], [, other]) => {
      const tenant = tenantObject(kind, body);
      for (const run of [
        () => patcher.toHost(tenant),
        () => patcher.toHost(tenant, { host: tenantObject(kind, other) }),
        () => patcher.toTenant(tenantObject(kind, other), { tenant }),
      ]) {
        try {
          run();
        } catch (error) {
          if (!isEngineError(error)) throw error;
        }
      }
    }),
    { numRuns: 2000 },
  );
});
