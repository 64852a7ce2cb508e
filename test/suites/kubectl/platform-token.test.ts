/**
 * A platform's token in the hands of the kubectl programs of this machine; see `session.test.ts`. The platform does not run.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { startCluster, type Cluster } from "../../../src/clusters.ts";
import { formatKubeconfig } from "../../../src/apiserver/access/kubeconfig.ts";
import { createTestPlatform, ISSUER, requestFor, type TestPlatform } from "../../management/tokens/signed.ts";
import { findKubectls } from "./find-kubectl.ts";
import { createKubectl, type Kubectl } from "./kubectl.ts";

const found = findKubectls(process.env);
const used = process.env["KUBECTL"] === "all" ? found : found.slice(-1);

describe.each(used)("kubectl 1.$minor with a platform's token", ({ path }) => {
  let platform: TestPlatform;
  let cluster: Cluster;
  const opened: Kubectl[] = [];
  const as = async (wanted: Parameters<typeof requestFor>[0]) => {
    const { token } = await platform.signer.sign(requestFor(wanted));
    const kubectl = createKubectl(path, formatKubeconfig({ name: "c1", url: cluster.url, caPem: cluster.caPem, token }));
    opened.push(kubectl);
    return kubectl;
  };

  beforeAll(async () => {
    platform = await createTestPlatform(systemClock);
    const target = { kind: "cluster", cluster: "c1" } as const;
    cluster = await startCluster({ name: "c1", platform: { issuer: ISSUER, keys: platform.keys.published(), target } });
  });
  afterAll(async () => {
    for (const kubectl of opened) kubectl.close();
    await cluster?.stop();
  });

  test("does what the scope allows, and is told what it does not", async () => {
    const rule = { resources: [{ resources: ["configmaps"] }], namespaces: ["default"] };
    const kubectl = await as({ scopes: [{ rules: [rule] }] });
    await kubectl.ok("create configmap settings --from-literal=level=info");
    expect(await kubectl.ok("get configmap settings -o jsonpath={.data.level}")).toBe("info");
    expect((await kubectl.run("get secrets")).err).toContain('User "jane" cannot list resource "secrets" in API group ""');
    expect((await kubectl.run("get configmaps -A")).err).toContain("at the cluster scope");
    expect((await kubectl.run("get configmaps --as root")).err).toContain('User "jane" cannot impersonate resource "users"');
    expect((await kubectl.run("auth can-i get configmaps")).out).toBe("yes\n");
    expect((await kubectl.run("auth can-i get pods")).out).toBe("no - the scope of the token does not allow it\n");
    const listed = await kubectl.ok("auth can-i --list");
    expect(listed).toMatch(/^configmaps +\[\] +\[\] +\[\*\]$/m);
    expect(listed).not.toMatch(/^\*\.\*/m);
  });

  test("is refused with a token for another cluster", async () => {
    const kubectl = await as({ scopes: [{ clusters: [{ cluster: "c2" }] }] });
    const { code, err } = await kubectl.run("get namespaces");
    expect([code, err]).toEqual([1, expect.stringContaining("Forbidden")]);
  });

  test("has the ClusterRoles that the token names", async () => {
    const kubectl = await as({ name: "joe", groups: [], clusterRoles: ["view"] });
    await kubectl.ok("get services");
    expect((await kubectl.run("delete service kubernetes")).err).toContain("Forbidden");
  });
});
