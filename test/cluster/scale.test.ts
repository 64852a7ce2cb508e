/**
 * Workloads as kubectl scales and applies them.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCluster, type Cluster } from "../../src/clusters.ts";
import { findKubectls } from "../suites/kubectl/find-kubectl.ts";
import { createKubectl, type Kubectl } from "../suites/kubectl/kubectl.ts";

const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "web:1" }] } };
const workload = (kind: string, spec: object = {}) => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: `one-${kind.toLowerCase()}` },
  spec: { selector: { matchLabels: labels }, template, ...spec },
});
const CLAIM = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } };

describe.each(findKubectls(process.env))("kubectl 1.$minor", ({ path }) => {
  let cluster: Cluster;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startCluster({ name: "host" });
    kubectl = createKubectl(path, cluster.kubeconfig);
    for (const kind of ["Deployment", "StatefulSet"]) await kubectl.ok("create -f -", workload(kind, { replicas: 2 }));
  });
  afterAll(async () => {
    kubectl?.close();
    await cluster?.stop();
  });

  test.each(["deployment", "statefulset"])("scales a %s, if it is as large as is said", async (kind) => {
    const replicas = () => kubectl.ok(`get ${kind} one-${kind} -o jsonpath={.spec.replicas}`);
    expect(await kubectl.ok(`scale ${kind} one-${kind} --replicas=5`)).toBe(`${kind}.apps/one-${kind} scaled\n`);
    expect(await replicas()).toBe("5");
    expect(await kubectl.ok(`scale ${kind} one-${kind} --current-replicas=5 --replicas=0`)).toContain("scaled");
    expect(await replicas()).toBe("0");
    const said = await kubectl.run(`scale ${kind} one-${kind} --current-replicas=5 --replicas=1`);
    expect([said.code, said.err]).toEqual([1, expect.stringContaining("Expected replicas to be 5, was 0")]);
    expect((await kubectl.run(`scale ${kind} one-${kind} --replicas=-1`)).code).toBe(1);
  });

  test("shows how large something is apart from the rest", async () => {
    await kubectl.ok("scale deployment one-deployment --replicas=3");
    expect(await kubectl.ok("get deployment one-deployment --subresource=scale")).toMatch(
      /^NAME +DESIRED +AVAILABLE +AGE\none-deployment +3 +0 /,
    );
    await kubectl.ok(["patch", "deployment", "one-deployment", "--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":4}}']);
    expect(await kubectl.ok("get deployment one-deployment -o jsonpath={.spec.replicas}")).toBe("4");
  });

  test("applies a StatefulSet again that says little of its claims, and nothing changes", async () => {
    const set = { ...workload("StatefulSet", { serviceName: "web", volumeClaimTemplates: [CLAIM] }), metadata: { name: "claims" } };
    const version = () => kubectl.ok("get statefulset claims -o jsonpath={.metadata.resourceVersion}");
    await kubectl.ok("apply -f -", set);
    const before = await version();
    await kubectl.ok("apply -f -", set);
    expect(await version()).toBe(before);
    await kubectl.ok("apply --server-side --force-conflicts -f -", set);
    const owned = await version();
    await kubectl.ok("apply --server-side --force-conflicts -f -", set);
    expect(await version()).toBe(owned);
    expect((await kubectl.run("diff -f -", set)).code).toBe(0);
  });
});
