/** What readers on the host see: by who writes in the tenant, who mirrors, the kind of Service, and the setting. The guide shows the table. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import {
  BACKEND_MODES,
  BACKEND_WRITERS,
  readyAddresses,
  rowOf,
  SERVICE_TYPES,
  wordFor,
  writeBackends,
} from "../../../support/backend-writers.ts";
import { clock, start, stopAll, useRunningSyncers } from "../running-syncers.ts";
import { sidesWith, slicesIn } from "./seen-backends.ts";

useRunningSyncers();

const GUIDE = readFileSync(join(resolve(import.meta.dirname, "../../../.."), "docs/guides/sync-endpoint-slices.md"), "utf8");

/** Ready addresses of each type of Service, as readers of slices on the host see them. */
async function readyOf(on: EmbeddedCluster): Promise<string[][]> {
  const slices = await slicesIn(on);
  return Object.keys(SERVICE_TYPES).map((name) => readyAddresses(slices, `${name}-x-shop-x-blue`));
}

describe.each(Object.entries(BACKEND_WRITERS))("the tenant has %s", (name, writer) => {
  test.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])("its cluster mirrors: %s, the host: %s", async (tenantMirrors, hostMirrors) => {
    const cells: string[] = [];
    for (const backends of BACKEND_MODES) {
      const sides = await sidesWith(tenantMirrors, hostMirrors);
      await writeBackends(sides.tenant.client, writer);
      await sides.tenant.settled();
      await start({ ...sides, settings: { backends } });
      await clock.advance(15_000);
      const [first, ...others] = await readyOf(sides.on);
      // The kind of Service changes nothing.
      for (const other of others) expect(other).toEqual(first);
      if (backends === "auto") expect(first).toEqual(writer.ready);
      cells.push(wordFor(first!, writer));
      await stopAll();
    }
    expect(GUIDE).toContain(rowOf(name, [tenantMirrors, hostMirrors], cells));
  });
});
