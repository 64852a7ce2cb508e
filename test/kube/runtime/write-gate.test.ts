import { expect, test } from "vitest";
import { createEmbeddedCluster } from "../../../src/cluster/cluster.ts";
import { CONFIG_MAPS } from "../../../src/kube/object/resource.ts";
import { gateWrites } from "../../../src/kube/runtime/write-gate.ts";

test("a gate lets everything through while it is open, and reads only while it is not", async () => {
  const cluster = await createEmbeddedCluster();
  let open = true;
  const writer = gateWrites(cluster.client, () => open);
  const key = { namespace: "default", name: "a" };
  const created = await writer.create(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { ...key } });
  const updated = await writer.update(CONFIG_MAPS, { ...created, data: { a: "b" } });
  open = false;
  const closed = { code: "LEADERSHIP_LOST" };
  await expect(writer.create(CONFIG_MAPS, created)).rejects.toMatchObject(closed);
  await expect(writer.update(CONFIG_MAPS, updated)).rejects.toMatchObject(closed);
  await expect(writer.delete(CONFIG_MAPS, key)).rejects.toMatchObject(closed);
  expect(await writer.get(CONFIG_MAPS, key)).toEqual(updated);
  open = true;
  expect(await writer.delete(CONFIG_MAPS, key)).toBe("deleted");
  await cluster.stop();
});
