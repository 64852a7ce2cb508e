/** With `backends: auto`: slices that the host refuses, those of earlier processes, and objects that take long to go. */
import { expect, test } from "vitest";
import { EngineError } from "../../../../src/base/errors.ts";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINT_SLICES, ENDPOINTS, type ResourceType } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import { over } from "../run/over-client.ts";
import { clock, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";
import { AUTO, ips, seen, sidesWith, slicesIn, write } from "./seen-backends.ts";

useRunningSyncers();

test.each(["API_FORBIDDEN", "API_INVALID"] as const)(
  "after a change from both to auto, readers miss no backend while the host refuses new slices: %s",
  async (code) => {
    const sides = await sidesWith(true, false);
    await fill(sides.tenant, "shop", ["web"]);
    await start({ ...sides, settings: { backends: "both" } });
    expect((await seen(sides.on)).addresses).toEqual(["10.0.0.1"]);
    await stopAll();
    const through = (client: ClusterClient, side: "tenant" | "host") =>
      side === "tenant"
        ? client
        : over(client, {
            create: (async (resource: ResourceType, object: KubeObject) => {
              if (resource === ENDPOINT_SLICES) throw new EngineError(code, "slices are refused");
              return client.create(resource, object as never);
            }) as never,
          });
    await start({ ...sides, settings: AUTO, through });
    let missing = 0;
    for (let time = 0; time < 600; time += 1) {
      await clock.advance(100);
      if (!(await seen(sides.on)).addresses.includes("10.0.0.1")) missing += 1;
    }
    expect(missing).toBe(0);
  },
);

test("a process that removes five made slices of an earlier one lists nothing again", async () => {
  const sides = await sidesWith(true, false);
  await fill(sides.tenant, "shop", ["web"]);
  await write(sides.tenant, [{ addresses: ips(600), ports: [{ port: 80 }] }]);
  await start({ ...sides, settings: AUTO });
  await clock.advance(10_000);
  expect((await slicesIn(sides.on)).length).toBe(6);
  await stopAll();
  const lists: string[] = [];
  const through = (client: ClusterClient, side: "tenant" | "host") =>
    over(client, {
      list: ((resource: ResourceType, options: never) => (
        lists.push(`${side} ${resource.plural}`),
        client.list(resource, options)
      )) as never,
    });
  await start({ ...sides, settings: AUTO, through });
  await clock.advance(5_000);
  lists.length = 0;
  await write(sides.tenant, [{ addresses: ips(1), ports: [{ port: 80 }] }]);
  await clock.advance(20_000);
  expect(lists).toEqual([]);
});

test("the copy of an object that is being deleted goes, however often that changes", async () => {
  const sides = await sidesWith(true, true);
  await fill(sides.tenant, "shop", ["web"]);
  const key = { namespace: "shop", name: "web" };
  await sides.tenant.client.patch(ENDPOINTS, key, "merge", { metadata: { finalizers: ["example.com/never"] } });
  const lists: string[] = [];
  let [gets, edits] = [0, false];
  const through = (client: ClusterClient, side: "tenant" | "host") =>
    over(client, {
      get: (async (resource: ResourceType, asked: never) => {
        if (side === "tenant" && resource === ENDPOINTS && edits) {
          gets += 1;
          await new Promise<void>((resolve) => clock.schedule(50, resolve));
          await sides.tenant.client.patch(ENDPOINTS, key, "merge", { metadata: { annotations: { edit: String(gets) } } });
        }
        return client.get(resource, asked);
      }) as never,
      list: ((resource: ResourceType, options: never) => (
        lists.push(`${side} ${resource.plural}`),
        client.list(resource, options)
      )) as never,
    });
  await start({ ...sides, settings: AUTO, through });
  lists.length = 0;
  edits = true;
  await sides.tenant.client.delete(ENDPOINTS, key);
  for (let second = 0; second < 180; second += 1) await clock.advance(1_000);
  const copy = await sides.on.client.get(ENDPOINTS, { namespace: "vc", name: "web-x-shop-x-blue" });
  expect([lists.length, copy]).toEqual([0, undefined]);
});

test("where a webhook changes each slice, former copies go all the same, and the syncer does not write without end", async () => {
  const sides = await sidesWith(true, false);
  await fill(sides.tenant, "shop", ["web"]);
  await start({ ...sides, settings: { backends: "both" } });
  await stopAll();
  let writes = 0;
  const marked = (object: KubeObject) => ({
    ...object,
    metadata: { ...object.metadata, labels: { ...object.metadata.labels, hook: "x" } },
  });
  const written = (action: "create" | "update") => (client: ClusterClient) =>
    (async (resource: ResourceType, object: KubeObject) => {
      writes += resource === ENDPOINT_SLICES ? 1 : 0;
      return client[action](resource, resource === ENDPOINT_SLICES ? marked(object) : object);
    }) as never;
  const through = (client: ClusterClient, side: "tenant" | "host") =>
    side === "tenant" ? client : over(client, { create: written("create")(client), update: written("update")(client) });
  await start({ ...sides, settings: AUTO, through });
  await clock.advance(10 * 60_000);
  const names = (await slicesIn(sides.on)).map(({ metadata }) => metadata.name);
  expect([names, (await seen(sides.on)).addresses]).toEqual([[expect.stringMatching(/-0$/)], ["10.0.0.1"]]);
  expect(writes).toBeLessThan(12);
});
