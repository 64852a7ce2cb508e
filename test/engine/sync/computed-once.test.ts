/**
 * What one change computes, from the change in the tenant cluster to the last write and its echo: names of host objects, and markers that
 * are asked for and that are read out of annotations. V8 counts the calls, so the numbers do not depend on the machine. A test that fails
 * with more is a sign that something is computed again that the caller already had.
 */
import { describe, expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../src/cluster/cluster.ts";
import type { Settings } from "../../../src/engine/config/settings.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import { useCountedCalls } from "../../support/counted-calls.ts";
import { clock, fill, start, useRunningSyncers } from "./running-syncers.ts";
import { sidesWith } from "./backends/seen-backends.ts";

const calls = useCountedCalls("engine/translate");

function change({ client }: EmbeddedCluster, ip: string): Promise<unknown> {
  const subsets = [{ addresses: [{ ip }], ports: [{ port: 80 }] }];
  return client.patch(ENDPOINTS, { namespace: "shop", name: "web" }, "merge", { subsets });
}

async function countsOf(settings: Partial<Settings>, hostMirrors: boolean) {
  const sides = await sidesWith(true, hostMirrors);
  await fill(sides.tenant, "shop", ["web", "other"]);
  await start({ ...sides, settings });
  for (const ip of ["10.0.0.2", "10.0.0.3"]) {
    await change(sides.tenant, ip);
    await clock.advance(20_000);
  }
  calls();
  await change(sides.tenant, "10.0.0.4");
  await clock.advance(20_000);
  const count = calls();
  return { names: count("sharedName"), markers: count("readMarkers"), parsed: count("parseAnnotations") };
}

describe("one change computes", () => {
  useRunningSyncers();

  test("three host names where Endpoints are copied alone", async () => {
    expect(await countsOf({ backends: "endpoints" }, true)).toEqual({ names: 3, markers: 5, parsed: 1 });
  });
  test("one host name for each reconcile and each slice where the host's mirror makes slices of the copy", async () => {
    expect(await countsOf({ backends: "auto" }, true)).toEqual({ names: 15, markers: 15, parsed: 3 });
  });
  test("as many where the syncer makes the slices", async () => {
    expect(await countsOf({ backends: "auto" }, false)).toEqual({ names: 13, markers: 21, parsed: 7 });
  });
});
