import { expect, test } from "vitest";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, SECRETS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { clock, cluster, start, useRunningSyncers } from "../running-syncers.ts";

useRunningSyncers();

test("a cache that has missed a change of a referenced object's copy is listed again, and the copy follows its source", async () => {
  const [tenant, on] = [await cluster("shop"), await cluster("vc")];
  let [loses, updates] = [false, 0];
  const through = (client: ClusterClient, side: "tenant" | "host"): ClusterClient =>
    side === "tenant"
      ? client
      : {
          get: (resource, key) => client.get(resource, key),
          list: (resource, options) => client.list(resource, options),
          async *watch(resource, options) {
            for await (const event of client.watch(resource, options)) if (!loses || resource !== SECRETS) yield event;
          },
          create: (resource, object) => client.create(resource, object),
          update: (resource, object) => ((updates += resource === SECRETS ? 1 : 0), client.update(resource, object)),
          patch: (resource, key, type, body) => client.patch(resource, key, type, body),
          delete: (resource, key, preconditions) => client.delete(resource, key, preconditions),
          close: () => client.close(),
        };
  const metadata = { namespace: "shop", name: "db" };
  const ports = [{ port: 80 }];
  const subsets = [{ addresses: [{ ip: "10.0.0.1" }], ports }];
  const named = { ...metadata, annotations: { secret: "db" } };
  await tenant.client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata, data: { v: "YQ==" } } as KubeObject);
  await tenant.client.create(SERVICES, { apiVersion: "v1", kind: "Service", metadata, spec: { ports } } as KubeObject);
  await tenant.client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: named, subsets } as KubeObject);
  const patches = [{ path: "metadata.annotations.secret", reference: { apiVersion: "v1", kind: "Secret" } }];
  await start({ tenant, on, namespace: "vc", toHost: { secrets: { enabled: true }, endpoints: { patches } }, through });
  const copy = { namespace: "vc", name: "db-x-shop-x-blue" };
  loses = true;
  await on.client.patch(SECRETS, copy, "merge", { metadata: { annotations: { edited: "yes" } } });
  await clock.advance(1_000);
  loses = false;
  await tenant.client.patch(SECRETS, metadata, "merge", { data: { v: "Yg==" } });
  await clock.advance(60_000);
  expect(await on.client.get(SECRETS, copy)).toMatchObject({ data: { v: "Yg==" } });
  expect(updates).toBeLessThanOrEqual(10);
});
