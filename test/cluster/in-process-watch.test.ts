import { expect, test } from "vitest";
import { createEmbeddedCluster } from "../../src/clusters.ts";
import { ENDPOINTS } from "../../src/kube/object/resource.ts";

test("a watch that is aborted while it opens ends", async () => {
  const { client, stop } = await createEmbeddedCluster();
  const ending = new AbortController();
  const { resourceVersion } = await client.list(ENDPOINTS);
  const next = client.watch(ENDPOINTS, { resourceVersion, signal: ending.signal })[Symbol.asyncIterator]().next();
  ending.abort();
  expect(await next).toEqual({ done: true, value: undefined });
  await stop();
});

test("a history that is forgotten while a watch waits is API_EXPIRED", async () => {
  const { client, stop } = await createEmbeddedCluster({ history: 20 });
  const write = (at: number) =>
    client.create(ENDPOINTS, { apiVersion: "v1", kind: "Endpoints", metadata: { namespace: "default", name: `web-${at}` } });
  const { resourceVersion } = await client.list(ENDPOINTS);
  await write(0);
  const events = client.watch(ENDPOINTS, { resourceVersion, signal: new AbortController().signal })[Symbol.asyncIterator]();
  expect((await events.next()).value).toMatchObject({ type: "ADDED" });
  for (let at = 1; at < 60; at++) await write(at);
  const rest = (async () => {
    while ((await events.next()).done !== true);
  })();
  await expect(rest).rejects.toMatchObject({ code: "API_EXPIRED" });
  await stop();
});
