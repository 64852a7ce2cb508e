import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ENDPOINTS, NAMESPACES } from "../../../src/kube/object/resource.ts";
import { answerStatus, isWatch, newCertificate, type FaultProxy, type Passing } from "./fault-proxy.ts";
import { guardRigs, prepareRig, startRig, startSide, temporaryFolder, type Rig, type RigSide, type Side } from "./rig.ts";

guardRigs();

const unauthorized = answerStatus(401, "Unauthorized");

test("F28 token rotated: the file is read again, without a failure", async () => {
  const folder = await temporaryFolder();
  const tokenFile = join(folder, "token");
  await writeFile(tokenFile, "first");
  const rig = await startRig({ users: { host: { tokenFile } } });
  let valid = "first";
  rig.host.proxy.on({ when: ({ authorization }) => authorization !== `Bearer ${valid}`, fault: unauthorized });
  await rig.put("web-0", "10.1.1.1");
  await rig.converged();
  valid = "second";
  await writeFile(tokenFile, "second");
  await rig.put("web-0", "10.1.1.2");
  await rig.converged();
  expect(rig.lines.filter((line) => line.includes("Reconcile failed"))).toEqual([]);
  expect(rig.takeHostWrites()).toBe(2);
});

test("F28 token expired and not replaced yet: told, and done as soon as there is a new one", async () => {
  const folder = await temporaryFolder();
  const tokenFile = join(folder, "token");
  await writeFile(tokenFile, "first");
  const rig = await startRig({ users: { host: { tokenFile } } });
  rig.host.proxy.on({ when: ({ authorization }) => authorization !== "Bearer second", fault: unauthorized });
  await rig.put("web-0", "10.1.1.1");
  await rig.until("it is reported", () => rig.lines.some((line) => line.includes("API_UNAUTHORIZED")));
  await writeFile(tokenFile, "second");
  await rig.converged();
});

test("F28 CA rotated: the file is read again, and connections are made with it", async () => {
  const folder = await temporaryFolder();
  const caFile = join(folder, "ca.crt");
  const rig = await prepareRig({ clusterFields: { host: { "certificate-authority": caFile, "certificate-authority-data": undefined } } });
  await writeFile(caFile, rig.host.proxy.certificate.caPem);
  await rig.syncer.start();
  await rig.converged();
  const next = newCertificate();
  rig.host.proxy.showCertificate(next);
  rig.host.proxy.reset();
  await rig.put("web-0", "10.1.1.1");
  await rig.pass(2_000);
  expect(await rig.isConverged()).toBe(false);
  await writeFile(caFile, next.caPem);
  await rig.converged();
});

test("F28 wrong cluster at the start: refused by its kube-system uid, nothing is written", async () => {
  const rig = await startRig({ objects: 2 });
  const other = await startSide("other", rig.clock);
  const next = await prepareRig({ objects: 0 });
  next.host.proxy.lead(rig.host.cluster.url);
  next.tenant.proxy.lead(other.cluster.url);
  await rig.stop();
  await expect(next.syncer.start()).rejects.toMatchObject({ code: "CLUSTER_IDENTITY" });
  expect(next.host.proxy.passed.filter(({ write }) => write)).toEqual([]);
});

/** Another cluster with the same namespaces and Endpoints, and with addresses that must never be seen. */
async function startOther(rig: Rig, side: Side, ahead: number): Promise<RigSide> {
  const other = await startSide("other", rig.clock);
  const { client } = other.cluster;
  const [namespace, name] = side === "tenant" ? ["shop", "web-0"] : ["vc-blue", "foreign"];
  const metadata = (of: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name: of } });
  await client.create(NAMESPACES, metadata(namespace));
  for (let i = 0; i < ahead; i++) await client.create(NAMESPACES, metadata(`n-${i}`));
  const subsets = [{ addresses: [{ ip: "10.66.66.66" }], ports: [{ port: 80, protocol: "TCP" }] }];
  await client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: { namespace, name }, subsets });
  return other;
}

const isKubeSystem = ({ url }: Passing) => /\/namespaces\/kube-system(\?|$)/.test(url);

/** How connections are led elsewhere, and how far the other cluster is ahead. */
const SWAPS: Record<string, { readonly ahead: number; swap(proxy: FaultProxy): void }> = {
  "with a reset": { ahead: 0, swap: (proxy) => proxy.reset() },
  "with a reset, to one whose state looks newer": { ahead: 100, swap: (proxy) => proxy.reset() },
  "with watches that end cleanly": { ahead: 100, swap: (proxy) => proxy.endWatches("clean") },
  "with watches that are out of history": {
    ahead: 0,
    swap(proxy) {
      proxy.on({ when: isWatch, fault: answerStatus(410, "Expired"), times: 4 });
      proxy.endWatches("clean");
    },
  },
};

describe.each(["tenant", "host"] as const)("another cluster in place of the %s", (side) => {
  test.each(Object.keys(SWAPS))(
    "F28 wrong cluster swapped in %s: nothing is written, and all catches up once the right one is back",
    async (how) => {
      const rig = await startRig({ objects: 3 });
      const { ahead, swap } = SWAPS[how]!;
      const other = await startOther(rig, side, ahead);
      const { proxy, cluster } = rig[side];
      const before = await other.cluster.client.list(ENDPOINTS);
      proxy.lead(other.cluster.url);
      swap(proxy);
      await rig.until("it is reported", () => rig.metrics.value("endpoint_sync_cluster_is_another", { cluster: side }) === 1);
      expect(rig.lines.join("\n")).toMatch(new RegExp(`error Nothing is synced .*${side}.*CLUSTER_IDENTITY`));
      await rig.put("web-1", "10.1.1.1");
      await rig.remove("web-2");
      await rig.pass(8_000);
      expect(rig.takeHostWrites()).toBe(0);
      expect([await other.cluster.client.list(ENDPOINTS), (await rig.copy("web-0"))?.["subsets"]]).toMatchObject([
        { items: before.items },
        [{ addresses: [{ ip: "10.0.0.1" }] }],
      ]);
      const asked = proxy.passed.filter(isKubeSystem).length;
      proxy.lead(cluster.url);
      await rig.converged();
      expect(rig.metrics.value("endpoint_sync_cluster_is_another", { cluster: side })).toBe(0);
      expect(asked).toBeLessThan(30);
      await rig.pass(2_000);
      expect(rig.takeHostWrites()).toBe(2);
    },
  );
});

test("F28 who answers is not asked while all is well", async () => {
  const rig = await startRig({ objects: 3 });
  const asked = () => (["tenant", "host"] as const).map((side) => rig[side].proxy.passed.filter(isKubeSystem).length);
  await rig.pass(2_000);
  const before = asked();
  const watches = rig.tenant.proxy.passed.filter(isWatch).length;
  await rig.until("watches have ended and begun again", () => rig.tenant.proxy.passed.filter(isWatch).length >= watches + 4);
  expect(asked()).toEqual(before);
});

test("F28 the permission to identify the cluster is missing: all works, and the check is not repeated", async () => {
  const rig = await prepareRig({ objects: 2 });
  rig.host.proxy.on({ when: isKubeSystem, fault: answerStatus(403, "Forbidden") });
  await rig.syncer.start();
  await rig.converged();
  for (let round = 1; round < 4; round++) {
    rig.host.proxy.reset();
    await rig.put("web-0", `10.1.1.${round}`);
    await rig.converged();
  }
  expect(rig.host.proxy.passed.filter(isKubeSystem).length).toBeLessThanOrEqual(2);
});
