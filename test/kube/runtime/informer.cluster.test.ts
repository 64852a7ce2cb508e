import * as fc from "fast-check";
import { expect, test } from "vitest";
import { systemChance } from "../../../src/base/chance.ts";
import { createEmbeddedCluster, type EmbeddedCluster } from "../../../src/clusters.ts";
import { keyOf } from "../../../src/kube/object/key.ts";
import { CONFIG_MAPS } from "../../../src/kube/object/resource.ts";
import { createInformer } from "../../../src/kube/runtime/informer/informer.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const NAMESPACE = "default";

async function put({ client }: EmbeddedCluster, name: string, turn: number): Promise<void> {
  const known = await client.get(CONFIG_MAPS, { namespace: NAMESPACE, name });
  const data = { turn: String(turn) };
  if (known) await client.update(CONFIG_MAPS, { ...known, data });
  else await client.create(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: NAMESPACE, name }, data });
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("put" as const), name: fc.constantFrom("a", "b", "c") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete" as const), name: fc.constantFrom("a", "b", "c") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("compact" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("disconnect" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(1, 500, 5_000, 400_000) }) },
);

test("an informer of an embedded cluster ends equal to it, through broken streams and compactions", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const clock = createFakeClock();
      const cluster = await createEmbeddedCluster({ clock });
      const informer = createInformer({
        client: cluster.client,
        resource: CONFIG_MAPS,
        scope: { namespace: NAMESPACE },
        clock,
        chance: systemChance,
        pageSize: 2,
      });
      const heard = new Map<string, string | undefined>();
      informer.onChange((key) => void heard.set(key.name, informer.get(key)?.metadata.resourceVersion));
      informer.start();
      for (const [turn, next] of steps.entries()) {
        if (next.do === "put") await put(cluster, next.name, turn);
        else if (next.do === "delete") await cluster.client.delete(CONFIG_MAPS, { namespace: NAMESPACE, name: next.name });
        else if (next.do === "compact") await cluster.compact();
        else if (next.do === "disconnect") cluster.client.disconnect();
        else await clock.advance(next.ms);
      }
      await clock.advance(5_000);
      const { items } = await cluster.client.list(CONFIG_MAPS, { namespace: NAMESPACE });
      const byName = new Map(items.map((item) => [keyOf(item).name, item]));
      expect(new Map(informer.list().map((item) => [keyOf(item).name, item]))).toEqual(byName);
      expect(informer.current).toBe(true);
      const told = new Map([...heard].filter(([, version]) => version !== undefined));
      expect(told).toEqual(new Map([...byName].map(([name, { metadata }]) => [name, metadata.resourceVersion])));
      await informer.stop();
      await cluster.stop();
    }),
    { numRuns: 60 },
  );
});
