/**
 * `why` tells what became of one object, and of each patch.
 */
import { describe, expect, test } from "vitest";
import { ENDPOINTS, EVENTS, NAMESPACES, SERVICES } from "../../../src/kube/object/resource.ts";
import { files, freshClusters, cli, has, object, sides, stateOf, subsets, sync, synced, web } from "../inspect/inspected-clusters.ts";

freshClusters();

describe("why", () => {
  const lines = async (argv: readonly string[], config?: string) => {
    const { code, stdout, stderr } = await cli("why", argv, { ...(config !== undefined && { config }) });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  };

  test("tells what stands where, and what became of each patch", async () => {
    await synced({ "example.com/team": "ops", "example.com/tier": "a" });
    const before = await stateOf(sides);
    const text = await lines(["ep", "shop/web"]);
    expect(text).toMatch(
      /^Endpoints shop\/web\n {2}tenant {4}version \d+, uid \S+\n {2}host {6}vc-blue\/web-x-shop-x-blue, version \d+, the copy, /,
    );
    expect(text).toContain("  decision  copy\n");
    expect(text).toMatch(/0 {2}metadata\.annotations\["example\.com\/team"\] +applied +1 +1 +\d+\n/);
    expect(text).toMatch(/1 {2}metadata\.annotations\["example\.com\/tier"\] +error +1 +0 +\d+\n/);
    expect(text).toMatch(/Failures of patches\n.*\n {2}metadata\.annotations\["example\.com\/tier"\] +EXPRESSION_ERROR /);
    expect(text).not.toContain("Pending writes");
    expect(await stateOf(sides)).toBe(before);
  });

  test("of an object that has no copy yet, tells what is still to come, and does not fail", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/team": "ops" }));
    const text = await lines(["ep", "shop/web"]);
    expect(text).toMatch(/host {6}vc-blue\/web-x-shop-x-blue, nothing there\n/);
    expect(text).toMatch(/state +copied: a write is pending; a starting syncer reads both clusters before/);
    expect(text).toMatch(/Pending writes\n.*\n {2}host +create /);
    await sync(has(sides.host.client, ENDPOINTS, "web-x-shop-x-blue"));
    expect(await lines(["ep", "shop/web"])).toContain("copied: in sync\n");
  });

  test("of an object whose copy the host refuses, tells no copy and why, as text and as JSON", async () => {
    const told = async (config: string) => {
      const text = await lines(["ep", "shop/web"], config);
      const { state, notes, host, writes } = JSON.parse(await lines(["ep", "shop/web", "-o", "json"], config)) as Record<string, unknown>;
      return { text, state, host, writes, code: (notes as { code: string }[])[0]!.code };
    };
    await sides.tenant.client.create(ENDPOINTS, web());
    const invalid = await told("text-port.yaml");
    expect(invalid).toMatchObject({ state: "refused", code: "API_INVALID", host: undefined, writes: [] });
    expect(invalid.text).toMatch(/nothing there\n[^]*state +refused: the object cannot be copied in its current form\n/);
    await sides.host.client.delete(NAMESPACES, { namespace: "", name: "vc-blue" });
    const homeless = await told("vcluster.yaml");
    expect(homeless).toMatchObject({ state: "waiting", code: "HOST_NAMESPACE_MISSING", host: undefined, writes: [] });
    expect(homeless.text).toMatch(/nothing there\n[^]*state +waiting: something else must happen first\n/);
    expect(homeless.text).toMatch(/HOST_NAMESPACE_MISSING +The host namespace does not exist, /);
  });

  test("waits for what is still to come, where it is told to, and fails when it does not come", async () => {
    const WAITING = "Waiting for a pending write\n";
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/team": "ops" }));
    const told = cli("why", ["ep", "shop/web", "--wait", "600"]);
    await sync(has(sides.host.client, ENDPOINTS, "web-x-shop-x-blue"));
    const { code, stdout } = await told;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("copied: in sync\n") as string });
    await sides.tenant.client.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", { metadata: { labels: { a: "b" } } });
    const late = await cli("why", ["ep", "shop/web", "--wait", "1"]);
    expect(late).toMatchObject({
      code: 1,
      stderr: `${WAITING}A write for shop/web is still pending after 1 s. Check that a syncer is running\n`,
    });
    expect(late.stdout).toContain("Pending writes");
    expect(await cli("why", ["ep", "shop/wbe", "--wait", "600"])).toMatchObject({ code: 1 });
  });

  test("tells which side has changed, and the writes that come of it", async () => {
    await synced({ "example.com/team": "ops" });
    const key = { namespace: "vc-blue", name: "web-x-shop-x-blue" };
    await sides.host.client.patch(ENDPOINTS, key, "merge", { metadata: { annotations: { "example.com/team": "red" } } });
    // Events for other objects are ignored.
    await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, "shop/other", { subsets }));
    const text = await lines(["Endpoints", "shop/web"]);
    expect(text).toMatch(
      /REVERSE_NOT_INVERSE +The host edit of annotations\/example\.com\/team is undone: it does not survive reverseExpression/,
    );
    expect(text).toMatch(/annotations\/example\.com\/team +host +no\n/);
    expect(text).toMatch(/Pending writes\n.*\n {2}host +update +Host edits are undone\n$/);
  });

  test("tells that a key which only the host has stays there, and why", async () => {
    await synced();
    const key = { namespace: "vc-blue", name: "web-x-shop-x-blue" };
    await sides.host.client.patch(ENDPOINTS, key, "merge", { metadata: { annotations: { "example.com/team": "red" } } });
    const text = await lines(["Endpoints", "shop/web"]);
    expect(text).toContain("copied: in sync, except for parts that stay as they are on the host\n");
    expect(text).toMatch(
      /REVERSE_NOT_INVERSE +The host edit of annotations\/example\.com\/team stays on the host and is not synced back: it does not survive/,
    );
    expect(text).toMatch(/annotations\/example\.com\/team +host +no, and stays as it is\n/);
  });

  test("names the other party of a collision", async () => {
    await sides.tenant.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "b-x-shop" } });
    await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, "shop/a-x-b", { subsets }));
    await sync(has(sides.host.client, ENDPOINTS, "a-x-b-x-shop-x-blue"));
    await sides.tenant.client.create(ENDPOINTS, object(ENDPOINTS, "b-x-shop/a", { subsets }));
    const text = await lines(["endpoints", "b-x-shop/a"]);
    expect(text).toContain(", the copy of shop/a-x-b\n");
    expect(text).toMatch(/state +refused: /);
    expect(text).toMatch(/NAME_COLLISION +"b-x-shop\/a" and "shop\/a-x-b" have the same name on the host/);
  });

  test("tells since when the writes of an object are slowed, and until when, as the syncer that runs has told", async () => {
    const told = async () => {
      const { items } = await sides.tenant.client.list(EVENTS, { namespace: "shop" });
      return items.filter(({ reason }) => reason === "WritesSlowed");
    };
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/team": "ops" }));
    await sync(async () => (await told()).length > 1, "drift.yaml");
    const { stdout: text } = await cli("why", ["ep", "shop/web"], { config: "drift.yaml" });
    const time = "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ";
    const [, since, until] = new RegExp(`WRITES_SLOWED .*: slowed since (${time}), next write by (${time})\\n`).exec(text)!;
    expect(Date.parse(until!)).toBeGreaterThanOrEqual(Date.parse(since!));
    expect((await told()).map(({ message }) => message)).toContainEqual(
      expect.stringContaining(`slowed since ${since}, next write by ${until}`),
    );
  });

  test("tells nothing of slowed writes that must be over", async () => {
    await synced();
    const { uid } = (await sides.tenant.client.get(ENDPOINTS, { namespace: "shop", name: "web" }))!.metadata;
    await sides.tenant.client.create(EVENTS, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { namespace: "shop", name: "web.old" },
      involvedObject: { apiVersion: "v1", kind: "Endpoints", namespace: "shop", name: "web", uid },
      reason: "WritesSlowed",
      message: "slowed since long ago",
      firstTimestamp: "2020-01-01T00:00:00Z",
      lastTimestamp: "2020-01-01T00:00:00Z",
    });
    expect(await lines(["ep", "shop/web"])).not.toContain("WRITES_SLOWED");
  });

  test.each([
    ["of this version", (version: string) => version, true],
    ["of an earlier version", (version: string) => String(Number(version) - 1), false],
  ])("tells that the syncer has given up on a copy, when that is %s", async (_when, versionOf, isTold) => {
    await synced();
    const { uid, resourceVersion = "" } = (await sides.tenant.client.get(ENDPOINTS, { namespace: "shop", name: "web" }))!.metadata;
    const time = new Date().toISOString().replace(/\.\d+Z$/, "Z");
    await sides.tenant.client.create(EVENTS, {
      ...{ apiVersion: "v1", kind: "Event", metadata: { namespace: "shop", name: "web.stopped" } },
      involvedObject: { kind: "Endpoints", namespace: "shop", name: "web", uid, resourceVersion: versionOf(resourceVersion) },
      ...{ reason: "LoopStopped", message: "The copy keeps being deleted", firstTimestamp: time, lastTimestamp: time },
    });
    await sides.host.client.delete(ENDPOINTS, { namespace: "vc-blue", name: "web-x-shop-x-blue" });
    const text = await lines(["ep", "shop/web"]);
    expect(text).toMatch(/Pending writes\n.*\n {2}host +create/);
    expect(/LOOP_STOPPED +The copy keeps being deleted/.test(text)).toBe(isTold);
  });

  test("of a Service, tells that readers see no backends where the host refuses the copy of its Endpoints", async () => {
    const ports = [{ name: "http", port: 80 }];
    await sides.tenant.client.create(SERVICES, object(SERVICES, "shop/web", { spec: { ports } }));
    await synced();
    const endpoints = (await sides.tenant.client.get(ENDPOINTS, { namespace: "shop", name: "web" }))!;
    await sync(has(sides.host.client, SERVICES, "web-x-shop-x-blue"));
    await sides.host.client.delete(ENDPOINTS, { namespace: "vc-blue", name: "web-x-shop-x-blue" });
    expect(await lines(["services", "shop/web"])).toMatch(
      /BACKENDS_INVISIBLE .*readers on the host see 0: the copy is missing; if a running syncer does not make it within seconds, .*a quota/,
    );
    const { uid, resourceVersion } = endpoints.metadata;
    await sides.tenant.client.create(EVENTS, {
      ...{ apiVersion: "v1", kind: "Event", metadata: { namespace: "shop", name: "web.invalid" } },
      involvedObject: { kind: "Endpoints", namespace: "shop", name: "web", uid, resourceVersion },
      ...{ reason: "ApiInvalid", message: "No", firstTimestamp: "2020-01-01T00:00:00Z", lastTimestamp: "2020-01-01T00:00:00Z" },
    });
    expect(await lines(["services", "shop/web"])).toMatch(
      /BACKENDS_INVISIBLE .*readers on the host see 0: the copy is missing \(API_INVALID\)/,
    );
  });

  test("of a Service, tells that readers see no backends where the host has no copy of it, unless it is paused", async () => {
    const key = { namespace: "shop", name: "web" };
    await sides.tenant.client.create(SERVICES, object(SERVICES, "shop/web", { spec: { ports: [{ port: 80 }] } }));
    await sides.tenant.client.create(ENDPOINTS, web());
    const told = /BACKENDS_INVISIBLE .*1 ready backend in Endpoints, but readers on the host see 0: the copy is missing; /;
    expect(await lines(["services", "shop/web"])).toMatch(told);
    const annotations = { "sync.platform/pause": "true" };
    await sides.tenant.client.patch(SERVICES, key, "merge", { metadata: { annotations } });
    expect(await lines(["services", "shop/web"])).not.toContain("BACKENDS_INVISIBLE");
  });

  test("tells what is left out, and why, of addresses", async () => {
    await sides.tenant.client.create(
      ENDPOINTS,
      object(ENDPOINTS, "shop/web", { subsets: [{ addresses: [{ ip: "100.100.100.200" }, { ip: "10.0.0.1" }], ports: [{ port: 80 }] }] }),
    );
    expect(await lines(["ep", "shop/web"])).toMatch(/ADDRESS_REFUSED +Address "100\.100\.100\.200" was left out: /);
  });

  test("tells why an object is not copied", async () => {
    await sides.tenant.client.create(
      ENDPOINTS,
      object(ENDPOINTS, "shop/web", { metadata: { annotations: { "sync.platform/pause": "true" } } }),
    );
    const text = await lines(["ep", "shop/web"]);
    expect(text).toContain("  decision  leave: EXCLUDED\n");
    expect(text).toContain(", nothing there\n");
    expect(text).toMatch(/EXCLUDED +The object has the pause annotation/);
  });

  test("fails for a name that is nowhere, after what it found, and tells the nearest", async () => {
    await sides.tenant.client.create(ENDPOINTS, web());
    const nowhere = await cli("why", ["ep", "shop/wbe"]);
    expect(nowhere.stdout).toBe(
      "Endpoints shop/wbe\n  tenant  does not exist\n  host    vc-blue/wbe-x-shop-x-blue, nothing there\n  state   absent: there is no copy, and there should be none\n",
    );
    expect(nowhere).toMatchObject({
      code: 1,
      stderr: 'error API_NOT_FOUND: The tenant has no Endpoints "shop/wbe", and the host has no copy of it\n  Did you mean shop/web?\n',
    });
    expect((await cli("why", ["ep", "shpo/web"])).stderr).toContain("\n  Did you mean shop/web?\n");
    expect((await cli("why", ["ep", "other/thing"])).stderr).toContain("\n  Check the namespace and the name\n");
    await sides.host.client.create(ENDPOINTS, object(ENDPOINTS, "vc-blue/none-x-shop-x-blue"));
    const foreign = await cli("why", ["ep", "shop/none"]);
    expect(foreign.stdout).toMatch(/host {4}vc-blue\/none-x-shop-x-blue, version \d+, not managed by this syncer\n/);
    expect(foreign.code).toBe(1);
  });

  test("takes the name of a copy on the host", async () => {
    await synced({ "example.com/team": "ops" });
    expect(await lines(["ep", "vc-blue/web-x-shop-x-blue"])).toBe(await lines(["ep", "shop/web"]));
  });

  test("explains a copy whose tenant object is gone", async () => {
    await synced();
    await sides.tenant.client.delete(ENDPOINTS, { namespace: "shop", name: "web" });
    expect(await lines(["ep", "vc-blue/web-x-shop-x-blue"])).toMatch(/^Endpoints shop\/web\n {2}tenant {2}does not exist\n/);
  });

  test("prints a reference with what is missing for it, as JSON", async () => {
    await sides.tenant.client.create(ENDPOINTS, web({ "example.com/secret": "db" }));
    expect(JSON.parse(await lines(["ep", "shop/web", "-o", "json"]))).toMatchObject({
      kind: "Endpoints",
      key: { namespace: "shop", name: "web" },
      hostKey: { namespace: "vc-blue", name: "web-x-shop-x-blue" },
      decision: { action: "copy" },
      state: "copied",
      settles: true,
      references: [{ kind: "Secret", host: { name: "db-x-shop-x-blue" }, notes: [{ code: "REFERENCE_MISSING" }] }],
      writes: [{ cluster: "host", action: "create" }],
    });
  });

  test.each([
    {
      why: "a kind that is not synced",
      argv: ["pods", "shop/web"],
      err: 'Unknown kind "pods"; the kinds are endpoints, services, endpointslices',
    },
    { why: "a name without namespace", argv: ["ep", "web"], err: 'Cannot look up "web": expected namespace/name' },
  ])("refuses $why", async ({ argv, err }) => {
    const { code, stderr } = await cli("why", argv);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`error USAGE: ${err}`) as string });
  });

  test("says that slices are switched off", async () => {
    const config = "without-slices.yaml";
    (files as Record<string, string>)[config] = "sync: { toHost: { endpointSlices: { enabled: false } } }\n";
    const { code, stderr } = await cli("why", ["endpointslices", "shop/web"], { config });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("error SYNC_DISABLED: ") as string });
    expect(stderr).toContain("Set backends: auto in the settings");
    expect(stderr).toContain("must not have enabled: false");
  });
});
