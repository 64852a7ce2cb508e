import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createHttpClient } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { answerText, dropRequest, isWatch } from "./fault-proxy.ts";
import { closeLater, copyName, guardRigs, startRig, type Rig, type Side } from "./rig.ts";

guardRigs();

const SIDES = ["tenant", "host"] as const;

/** Ways for a server to be away, each with its return. */
const AWAY: Record<string, (rig: Rig, side: Side) => Promise<() => Promise<void> | void>> = {
  "refuses connections": async (rig, side) => {
    await rig[side].proxy.refuse();
    return () => rig[side].proxy.listen();
  },
  "resets every request": async (rig, side) => {
    const { proxy } = rig[side];
    const end = proxy.on({ fault: dropRequest });
    proxy.reset();
    return end;
  },
  "breaks TLS handshakes": async (rig, side) => rig[side].proxy.breakHandshakes(),
  "answers 503 to everything": async (rig, side) => {
    const { proxy } = rig[side];
    const end = proxy.on({ fault: answerText(503, "upstream connect error") });
    proxy.reset();
    return end;
  },
  "stands still": async (rig, side) => {
    rig[side].proxy.freeze();
    return () => rig[side].proxy.thaw();
  },
};

describe("an outage", () => {
  for (const side of SIDES)
    test.each(Object.keys(AWAY))(`F25 ${side} down (it %s), the other one up: nothing is deleted, and all catches up`, async (how) => {
      const rig = await startRig({ objects: 3 });
      const back = await AWAY[how]!(rig, side);
      await rig.put("web-0", "10.1.1.1");
      await rig.put("new", "10.1.1.2");
      await rig.pass(8_000);
      expect(rig.host.proxy.passed.filter(({ method }) => method === "DELETE")).toEqual([]);
      await back();
      await rig.converged();
      await rig.pass(2_000);
      expect(rig.takeHostWrites()).toBe(2);
    });

  test("F25 tenant down, and a copy is deleted: it still comes back", async () => {
    const rig = await startRig({ objects: 2 });
    await rig.tenant.proxy.refuse();
    await rig.host.cluster.client.delete(ENDPOINTS, { namespace: "vc-blue", name: copyName("web-1") });
    await rig.until("the copy is back", async () => (await rig.copy("web-1")) !== undefined);
    await rig.tenant.proxy.listen();
    await rig.converged();
  });

  test("F25 both down one after the other, in turns: all catches up, and no change is written twice", async () => {
    const rig = await startRig({ objects: 4 });
    const downs: Side[][] = [["tenant"], ["tenant", "host"], ["host"], ["host", "tenant"]];
    for (const [round, sides] of downs.entries()) {
      for (const side of sides) await rig[side].proxy.refuse();
      await rig.put(`web-${round}`, `10.1.1.${round + 1}`);
      await rig.pass(2_000);
      for (const side of [...sides].reverse()) {
        await rig[side].proxy.listen();
        await rig.pass(700);
      }
    }
    await rig.converged();
    await rig.pass(2_000);
    // A write whose answer an outage has cut off is not counted.
    expect(rig.takeHostWrites()).toBeLessThanOrEqual(4);
  });

  test("F35 connections reset again and again under load: all catches up", async () => {
    const rig = await startRig({ objects: 20 });
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 20; i++) await rig.put(`web-${i}`, `10.2.${round}.${i + 1}`);
      for (const side of SIDES) rig[side].proxy.reset();
      await rig.pass(600);
    }
    await rig.converged();
  });

  test("F35 DNS failure: API_UNAVAILABLE with the reason", async () => {
    const text = JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "a", cluster: { server: "https://nowhere.invalid:6443" } }],
      contexts: [{ name: "a", context: { cluster: "a" } }],
      "current-context": "a",
    });
    const client = createHttpClient({ kubeConfig: await loadKubeConfig({ text }), clock: systemClock });
    closeLater(client);
    await expect(client.list(ENDPOINTS)).rejects.toMatchObject({
      code: "API_UNAVAILABLE",
      message: expect.stringMatching(/nowhere\.invalid/) as string,
    });
  });

  test("F35 proxy on the way answers 407: repeated, and told", async () => {
    const rig = await startRig();
    const { proxy } = rig.tenant;
    // A watch that ends right after it has begun is an outage of its own.
    await rig.pass(10_000);
    proxy.on({ when: isWatch, fault: answerText(407, "<h1>Proxy Authentication Required</h1>"), times: 4 });
    proxy.endWatches("clean");
    await rig.put("web-0", "10.1.1.1");
    await rig.converged();
    expect(rig.lines.join("\n")).toMatch(/warn Cannot follow the cluster .*407/);
  });
});

describe("connections", () => {
  test("F35 handshakes: at most eight for calls, one for a list of one object and one for each watch, none for a write, however often watches start over", async () => {
    const rig = await startRig({ objects: 60 });
    await rig.converged();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 60; i++) await rig.put(`web-${i}`, `10.3.${round}.${i + 1}`);
      await rig.converged();
      // Watches end and begin meanwhile.
      await rig.pass(18_000);
    }
    expect(rig.takeHostWrites()).toBeGreaterThanOrEqual(120);
    for (const side of SIDES) {
      const { proxy } = rig[side];
      const watches = proxy.passed.filter(isWatch).map(({ url }) => new URL(url, proxy.url).pathname);
      const watched = new Set(watches).size;
      expect(watches.length).toBeGreaterThan(watched);
      // A list of one object has a connection beside the eight: whether slices are known is asked by one.
      const singles = proxy.passed.filter((passing) => !isWatch(passing) && passing.url.includes("fieldSelector=metadata.name")).length;
      const most = 8 + singles + watched;
      expect(singles).toBeLessThanOrEqual(1);
      expect({ side, most, handshakes: proxy.handshakes }).toEqual({ side, most, handshakes: Math.min(proxy.handshakes, most) });
    }
  });
});
