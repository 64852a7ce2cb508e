/** How many writes the simulator's oracle S8 grants to replicas, and what a false response about a Service adds. */
import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../src/kube/object/resource.ts";
import type { Oracle, WatchedReconcile, Write } from "../../../src/workbench/simulator/model/history.ts";
import { churn } from "../../../src/workbench/simulator/oracles/churn.ts";
import type { World } from "../../../src/workbench/simulator/world.ts";
import { WEB } from "./simulator-history.ts";

const SERVICE = "services|shop/web";

/** A world of so many replicas, in which the syncer decides per Service who writes slices, unless that is switched off. */
function worldOf(replicas: number, decidesBackends = true): World {
  const options = { replicas, names: [WEB], setting: { name: "by hand", generations: [] } };
  return { options, resources: [SERVICES, ENDPOINTS, ENDPOINT_SLICES], generation: { rules: [{ decidesBackends }] } } as unknown as World;
}

/** Writes that replicas may make after one write of a user and what `before` does. */
function granted(world: World, before: (oracle: Oracle) => void): number {
  const oracle = churn(world);
  const write = (kind: "tenant" | "replica") => oracle.saw({ author: { kind } } as Write);
  expect(write("tenant")).toBeUndefined();
  before(oracle);
  for (let count = 0; count < 10_000; count += 1) if (write("replica") !== undefined) return count;
  throw new Error("Nothing ends the writes");
}

const misled = (id: string, how: "failure" | "lie") => (oracle: Oracle) => oracle.misled!({ id } as WatchedReconcile, how);

describe("after one write of a user", () => {
  const usual = granted(worldOf(2), () => undefined);

  test("replicas may write a few times", () => {
    expect(usual).toBeGreaterThan(0);
    expect(usual).toBeLessThan(20);
  });

  test("two replicas may undo each other for a while when one of them was told of a Service that is not there", () => {
    expect(granted(worldOf(2), misled(SERVICE, "lie"))).toBe(7 * usual);
  });

  test.each<[string, World, string, "failure" | "lie"]>([
    ["a failed request", worldOf(2), SERVICE, "failure"],
    ["a false response about another object", worldOf(2), "endpoints|shop/web", "lie"],
    ["a false response to the only replica", worldOf(1), SERVICE, "lie"],
  ])("%s adds nothing", (_what, world, id, how) => {
    expect(granted(world, misled(id, how))).toBe(usual);
  });

  test("a false response adds nothing where the syncer does not decide who writes slices", () => {
    const world = worldOf(2, false);
    expect(granted(world, misled(SERVICE, "lie"))).toBe(granted(world, () => undefined));
  });
});
