/**
 * `metadata.generation` belongs to the server, whatever number a body has.
 */
import { expect, test } from "vitest";
import { useRawCluster } from "../support/raw-cluster.ts";

const LARGEST = "9223372036854775807";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

const raw = useRawCluster();

const slice = (generation: string) =>
  `{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"web","generation":${generation}},"addressType":"IPv4","endpoints":[]}`;

test("the largest of 64 bits is taken by a creation and an update, and counts for nothing", async () => {
  const created = await raw.client.send("POST", SLICES, { body: slice(LARGEST) });
  expect([created.code, created.json["metadata"]!["generation"]]).toEqual([201, 1]);
  const updated = await raw.client.send("PUT", `${SLICES}/web`, { body: slice(LARGEST) });
  expect([updated.code, updated.json["metadata"]!["generation"]]).toEqual([200, 1]);
});

test.each(["1.5", "1e30", '"1"'])("%s is no such number", async (generation) => {
  expect((await raw.client.send("PUT", `${SLICES}/web`, { body: slice(generation) })).code).toBe(400);
});
