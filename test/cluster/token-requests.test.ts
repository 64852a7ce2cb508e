import { expect, test } from "vitest";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../src/clusters.ts";
import { PODS } from "../../src/cluster/kinds/pods.ts";
import { SERVICE_ACCOUNTS } from "../../src/cluster/kinds/service-accounts.ts";
import { openApiDocuments } from "../../src/apiserver/documents/openapi.ts";
import { codeOf } from "../conformance/setting.ts";
import { createFakeClock } from "../support/fake-clock.ts";

const KEY = { namespace: "default", name: "bot" };

interface TokenStatus {
  readonly token: string;
  readonly expirationTimestamp: string;
}

async function withBot(body: (cluster: EmbeddedCluster, clock: ReturnType<typeof createFakeClock>) => Promise<void>): Promise<void> {
  const clock = createFakeClock();
  const cluster = await createEmbeddedCluster({ clock });
  try {
    await cluster.client.create(SERVICE_ACCOUNTS, { ...SERVICE_ACCOUNTS, metadata: KEY });
    await body(cluster, clock);
  } finally {
    await cluster.stop();
  }
}

async function ask({ registry }: EmbeddedCluster, spec: object, options: { dryRun?: boolean } = {}): Promise<TokenStatus> {
  const answer = await registry.compute(SERVICE_ACCOUNTS, { key: KEY, part: "token", body: { spec } }, options);
  return answer["status"] as TokenStatus;
}

test("a token ends at the second at which its answer says so, by the cluster's own clock", async () => {
  await withBot(async (cluster, clock) => {
    const { token, expirationTimestamp } = await ask(cluster, { expirationSeconds: 600 });
    expect(Date.parse(expirationTimestamp) - clock.now()).toBeLessThanOrEqual(600_000);
    clock.jump(599_999);
    expect((await cluster.access.tokens.identify(token))?.user.name).toBe("system:serviceaccount:default:bot");
    clock.jump(1);
    expect(await cluster.access.tokens.identify(token)).toBeUndefined();
  });
});

test("a dry run makes no token", async () => {
  await withBot(async (cluster) => {
    const { token, expirationTimestamp } = await ask(cluster, {}, { dryRun: true });
    expect([token, expirationTimestamp]).toEqual(["", expect.stringMatching(/Z$/)]);
    expect(await cluster.access.tokens.identify("")).toBeUndefined();
  });
});

test("a token is bound to Pods of its own account only, and ends with them", async () => {
  await withBot(async (cluster) => {
    const pod = (name: string, serviceAccountName?: string) => ({
      ...PODS,
      metadata: { namespace: "default", name },
      spec: { containers: [{ name: "a", image: "b" }], ...(serviceAccountName && { serviceAccountName }) },
    });
    await cluster.client.create(PODS, pod("own", "bot"));
    await cluster.client.create(PODS, pod("other"));
    const bind = (name: string) => ask(cluster, { boundObjectRef: { apiVersion: "v1", kind: "Pod", name } });
    expect(await codeOf(bind("other"))).toBe("API_BAD_REQUEST");
    const { token } = await bind("own");
    expect(await cluster.access.tokens.identify(token)).toBeDefined();
    await cluster.client.delete(PODS, { namespace: "default", name: "own" });
    expect(await cluster.access.tokens.identify(token)).toBeUndefined();
  });
});

test("an account has no other computed subresource", async () => {
  await withBot(async ({ registry }) => {
    expect(await codeOf(registry.compute(SERVICE_ACCOUNTS, { key: KEY, part: "constructor", body: {} }))).toBe("API_NOT_FOUND");
  });
});

test("the request stands in the schemas, as the kind of another group", async () => {
  await withBot(async ({ registry }) => {
    const { text } = openApiDocuments(registry.definitions).find(({ path }) => path === "api/v1")!;
    const { paths, components } = JSON.parse(text) as { paths: Record<string, object>; components: { schemas: Record<string, object> } };
    const path = paths["/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"]!;
    expect(Object.keys(path)).toEqual(["post", "parameters"]);
    expect(path).toMatchObject({
      post: { "x-kubernetes-group-version-kind": { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" } },
    });
    expect(components.schemas["io.k8s.api.authentication.v1.TokenRequest"]).toMatchObject({ required: ["spec"] });
  });
});
