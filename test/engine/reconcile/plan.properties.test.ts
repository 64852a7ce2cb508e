/**
 * Laws of the planner, over random objects, patches and edits on both sides, with a store that repacks as the API server does.
 */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { PatchDefinition } from "../../../src/engine/patch/patch-definition.ts";
import { repackSubsets } from "../../../src/kube/object/endpoints/subsets.ts";
import type { Endpoints, EndpointSubset, KubeObject } from "../../../src/kube/object/types.ts";
import { isStoredAsPlanned } from "../../../src/engine/reconcile/object-strategy.ts";
import { plan } from "../../../src/engine/reconcile/plan.ts";
import type { Plan } from "../../../src/engine/reconcile/plan-types.ts";
import type { Rules } from "../../../src/engine/reconcile/rules/rules.ts";
import { tenantEndpoints, testRules } from "../../support/rules.ts";

const KEY = { namespace: "shop", name: "web" };

/** Both clusters' view of one object, with a common version counter. */
interface World {
  tenant: Endpoints | undefined;
  host: KubeObject | undefined;
  version: number;
}

const PATCHES: readonly PatchDefinition[] = [
  { path: "metadata.annotations[*]", expression: '"my-" + value', reverseExpression: 'value.slice("my-".length)' },
  { path: "metadata.annotations[*]", expression: '"my-" + value', reverseExpression: 'value.slice("my".length)' },
  { path: 'metadata.labels["a"]', expression: 'value + "x"' },
  { path: "metadata.annotations", expression: '({ ...value, added: "1" })' },
  { path: "subsets[*].addresses[*].ip", expression: 'value.replace(/^10\\./, "11.")', reverseExpression: 'value.replace(/^11\\./, "10.")' },
  { path: "subsets[*].ports[*].port", expression: "value + 1" },
  { path: 'metadata.annotations["b"]', expression: "null" },
  { path: 'metadata.annotations["a"]', expression: "value.missing.field" },
  { path: 'metadata.labels["b"]', reverseExpression: "value.trim()" },
  { path: 'metadata.annotations["c"]', reference: { apiVersion: "v1", kind: "Secret" } },
];

const key = fc.constantFrom("a", "b", "c", "release");
const map = fc.dictionary(key, fc.constantFrom("1", "2", "my-1", "my-my-2", "x "), { maxKeys: 3 });
const ip = fc.constantFrom("10.0.0.1", "10.0.0.2", "11.0.0.1", "127.0.0.1");
const subset: fc.Arbitrary<EndpointSubset> = fc.record({
  addresses: fc.array(fc.record({ ip }), { minLength: 1, maxLength: 3 }),
  ports: fc.array(fc.record({ name: fc.constantFrom("p", "q"), port: fc.constantFrom(80, 81), protocol: fc.constant("TCP") }), {
    maxLength: 2,
  }),
});
const content = fc.record({ labels: map, annotations: map, subsets: fc.array(subset, { maxLength: 2 }) });
const step = fc.oneof(
  fc.record({ side: fc.constantFrom("tenant" as const, "host" as const), content }),
  fc.record({ side: fc.constantFrom("delete tenant" as const, "delete host" as const, "recreate" as const), content }),
);

function written<T extends KubeObject>(world: World, object: T): T {
  world.version += 1;
  const subsets = repackSubsets((object as unknown as Endpoints).subsets ?? []);
  return { ...object, subsets, metadata: { uid: `uid-${world.version}`, ...object.metadata, resourceVersion: String(world.version) } };
}

function applyStep(
  world: World,
  {
    side,
    content: { labels, annotations, subsets },
  }: { side: string; content: { labels: Record<string, string>; annotations: Record<string, string>; subsets: EndpointSubset[] } },
): void {
  if (side === "tenant")
    world.tenant = written(world, {
      ...(world.tenant ?? tenantEndpoints()),
      subsets,
      metadata: { ...(world.tenant ?? tenantEndpoints()).metadata, labels, annotations },
    });
  if (side === "recreate") world.tenant = written(world, tenantEndpoints({ uid: `reborn-${world.version}`, labels, annotations }, subsets));
  if (side === "delete tenant") world.tenant = undefined;
  if (side === "delete host") world.host = undefined;
  if (side === "host" && world.host !== undefined) {
    const kept = (of: Record<string, string>) =>
      Object.fromEntries(Object.entries(of).filter(([name]) => name.startsWith("sync.platform/")));
    const { metadata } = world.host;
    world.host = written(world, {
      ...world.host,
      subsets,
      metadata: {
        ...metadata,
        labels: { ...kept(metadata.labels!), ...labels },
        annotations: { ...kept(metadata.annotations!), ...annotations },
      },
    });
  }
}

/** Plans and applies until nothing is left to do; fails when that does not end. `spared`: plans that would not have been needed. */
function settle(rules: Rules, world: World, rounds = 6): { plans: Plan[]; writes: { host: number; tenant: number }; spared: Plan[] } {
  const plans: Plan[] = [];
  const spared: Plan[] = [];
  let complete = false;
  const writes = { host: 0, tenant: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const planned = plan(rules, { key: KEY, ...pick(world) });
    plans.push(planned);
    if (complete) spared.push(planned);
    if (planned.operations.length === 0) return { plans, writes, spared };
    for (const operation of planned.operations) {
      writes[operation.side] += 1;
      if (operation.action === "delete") world.host = undefined;
      else if (operation.side === "host") world.host = written(world, operation.object);
      else world.tenant = written(world, operation.object as Endpoints);
    }
    complete = world.host !== undefined && isStoredAsPlanned(rules, planned, world.host);
  }
  throw new Error(
    `still writing after ${rounds} rounds: ${plans.map(({ operations }) => operations.map((operation) => operation.reason).join()).join(" | ")}`,
  );
}

function pick({ tenant, host }: World) {
  return { tenant, host };
}

const patches = fc.uniqueArray(fc.constantFrom(...PATCHES), { maxLength: 4, selector: ({ path }) => path });

test("whatever happens on either side, the plan comes to rest, and stays there", () => {
  fc.assert(
    fc.property(patches, fc.array(step, { maxLength: 5 }), (chosen, steps) => {
      const rules = testRules({ patches: chosen });
      const world: World = {
        tenant: written({ tenant: undefined, host: undefined, version: 1 }, tenantEndpoints()),
        host: undefined,
        version: 100,
      };
      settle(rules, world);
      for (const each of steps) {
        applyStep(world, each);
        settle(rules, world);
      }
      expect(plan(rules, { key: KEY, ...pick(world) }).operations).toEqual([]);
      expect(world.host === undefined).toBe(world.tenant === undefined);
    }),
    { numRuns: 400 },
  );
});

test("one tenant change costs one host write, and none when nothing that crosses changed", () => {
  fc.assert(
    fc.property(patches, content, (chosen, change) => {
      const rules = testRules({ patches: chosen });
      const world: World = {
        tenant: written({ tenant: undefined, host: undefined, version: 1 }, tenantEndpoints()),
        host: undefined,
        version: 100,
      };
      settle(rules, world);
      applyStep(world, { side: "tenant", content: change });
      const { writes } = settle(rules, world);
      expect(writes.tenant).toBe(0);
      expect(writes.host).toBeLessThanOrEqual(1);
    }),
    { numRuns: 300 },
  );
});

test("one host edit costs at most one tenant write and one host write", () => {
  fc.assert(
    fc.property(patches, content, content, (chosen, before, edit) => {
      const rules = testRules({ patches: chosen });
      const world: World = { tenant: undefined, host: undefined, version: 100 };
      applyStep(world, { side: "tenant", content: before });
      settle(rules, world);
      applyStep(world, { side: "host", content: edit });
      const { writes } = settle(rules, world);
      expect(writes.tenant).toBeLessThanOrEqual(1);
      expect(writes.host).toBeLessThanOrEqual(1);
    }),
    { numRuns: 300 },
  );
});

test("a write that is stored as planned leaves nothing to do and nothing to say", () => {
  let spared = 0;
  fc.assert(
    fc.property(patches, fc.array(step, { maxLength: 5 }), (chosen, steps) => {
      const rules = testRules({ patches: chosen });
      const blind = { ...rules, engine: { ...rules.engine, readsHostObject: () => false } };
      const world: World = { tenant: undefined, host: undefined, version: 100 };
      for (const each of steps) {
        applyStep(world, each);
        const again = settle(blind, world).spared;
        expect(again.map(({ state, operations, notes }) => ({ state, operations, notes }))).toEqual(
          again.map(() => ({ state: "copied", operations: [], notes: [] })),
        );
        spared += again.length;
      }
    }),
    { numRuns: 400 },
  );
  expect(spared).toBeGreaterThan(100);
});
