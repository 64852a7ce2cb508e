/**
 * A cluster is the same API, wherever its objects are: every case of the suites, on a SQLite file.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { createEmbeddedCluster, openSqliteStore, startCluster } from "../../../src/clusters.ts";
import { clusterClientSuite } from "../../conformance/cluster-client.ts";
import { clusterSuite } from "../../conformance/cluster.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-cluster-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newStore = () => openSqliteStore({ path: join(folder, `${(files += 1)}.db`) });

clusterClientSuite({
  name: "in-process client on SQLite",
  offers: ["compact", "disconnect"],
  create: async () => {
    const { client, compact, stop } = await createEmbeddedCluster({ store: newStore() });
    return { client, compact, disconnect: () => client.disconnect(), close: stop };
  },
});

clusterSuite({
  name: "embedded cluster on SQLite",
  offers: ["compact"],
  create: async () => {
    const { url, caPem, token, compact, stop } = await startCluster({ name: "conformance", store: newStore() });
    return { url, caPem, token, compact, close: stop };
  },
});
