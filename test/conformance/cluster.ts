/**
 * What a Kubernetes API server says over HTTP, as a suite that embedded clusters run and real ones can. It keeps to a
 * namespace of its own.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessCases } from "./access.ts";
import { binaryCases } from "./binary.ts";
import { accountTokenCases } from "./account-tokens.ts";
import { createRawClient } from "./raw-client.ts";
import { deleteCases, writeCases } from "./http-writes.ts";
import { discoveryCases } from "./discovery.ts";
import { edgeCases, readCases } from "./http-edges.ts";
import { listCases, watchCases } from "./http-reads.ts";
import { initialEventCases } from "./initial-events.ts";
import { lifetimeCases } from "./lifetimes.ts";
import { refusalCases } from "./http-refusals.ts";
import { applyCases, managerCases, strategicMergeCases } from "./field-managers.ts";
import { statusCases } from "./statuses.ts";
import { nodeCases, podCases } from "./pods.ts";
import { viewCases } from "./views.ts";
import { policyCases, scaleCases, workloadCases } from "./workloads.ts";
import type { ClusterUnderTest, RawSetting } from "./raw-setting.ts";

/** One cluster. */
export interface ClusterSuiteOptions {
  readonly name: string;
  readonly create: () => Promise<ClusterUnderTest>;
  /** What `create` offers besides an address; cases that need what is missing do not run. */
  readonly offers?: readonly "compact"[];
  /** The cluster asks for credentials. Default true. */
  readonly authenticates?: boolean;
}

/** Runs every case against a cluster that `create` makes. */
export function clusterSuite({ name, create, offers = [], authenticates = true }: ClusterSuiteOptions): void {
  describe(name, () => {
    let shared: RawSetting;
    const setting = () => shared;
    beforeAll(async () => {
      const cluster = await create();
      const namespace = `conformance-${randomBytes(4).toString("hex")}`;
      const path = (plural: string, object?: string) =>
        `/api/v1/namespaces/${namespace}/${plural}${object === undefined ? "" : `/${object}`}`;
      shared = { raw: createRawClient(cluster), cluster, namespace, path };
      expect((await shared.raw.send("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } })).code).toBe(201);
    });
    afterAll(async () => {
      await shared?.raw.send("DELETE", `/api/v1/namespaces/${shared.namespace}`);
      await shared?.raw.close();
      await shared?.cluster.close();
    });

    refusalCases(setting);
    readCases(setting);
    writeCases(setting);
    binaryCases(setting);
    statusCases(setting);
    edgeCases(setting);
    deleteCases(setting);
    lifetimeCases(setting);
    listCases(setting);
    watchCases(setting);
    initialEventCases(setting);
    applyCases(setting);
    managerCases(setting);
    strategicMergeCases(setting);
    viewCases(setting);
    podCases(setting);
    nodeCases(setting);
    workloadCases(setting);
    scaleCases(setting);
    policyCases(setting);
    discoveryCases(setting);
    accessCases(setting);
    accountTokenCases(setting);

    test.runIf(authenticates)("every request without credentials, except for health and version, returns 401", async () => {
      const { url, caPem } = shared.cluster;
      const stranger = createRawClient({ url, ...(caPem !== undefined && { caPem }) });
      const wrong = createRawClient({ url, token: "wrong", ...(caPem !== undefined && { caPem }) });
      for (const raw of [stranger, wrong]) {
        const { code, json } = await raw.send("GET", "/api/v1/namespaces");
        expect([code, json]).toMatchObject([401, { kind: "Status", reason: "Unauthorized", message: "Unauthorized" }]);
        expect((await raw.send("GET", "/livez")).code).toBe(200);
        await raw.close();
      }
    });

    test.runIf(offers.includes("compact"))("a watch from a compacted state is accepted, and fails in its first event", async () => {
      const { raw, path } = shared;
      const { json } = await raw.send("GET", path("configmaps"));
      await raw.send("POST", path("configmaps"), { body: { metadata: { name: "later" } } });
      await shared.cluster.compact!();
      const [line] = await raw.watch(`${path("configmaps")}?watch=1&resourceVersion=${json["metadata"]!["resourceVersion"]}`, 1);
      expect(line).toMatchObject({ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } });
      expect(line!["object"]!["message"]).toMatch(/^too old resource version: \d+ \(\d+\)$/);
    });

    test.runIf(offers.includes("compact"))("a page of a compacted state returns 410 with a token to continue", async () => {
      const { raw, path } = shared;
      const create = (name: string) => raw.send("POST", path("secrets"), { body: { metadata: { name, labels: { page: "yes" } } } });
      for (const label of ["expiring-a", "expiring-b"]) await create(label);
      const list = `${path("secrets")}?labelSelector=page%3Dyes`;
      const first = await raw.send("GET", `${list}&limit=1`);
      await create("expiring-c");
      await shared.cluster.compact!();
      const next = `${list}&limit=5&continue=`;
      const { code, json } = await raw.send("GET", `${next}${first.json["metadata"]!["continue"]}`);
      expect([code, json["reason"]]).toEqual([410, "Expired"]);
      expect(json["message"]).toMatch(/^The provided continue parameter is too old/);
      const rest = await raw.send("GET", `${next}${json["metadata"]!["continue"]}`);
      expect(rest.json["items"]!.map((item) => item["metadata"]!["name"])).toEqual(["expiring-b", "expiring-c"]);
    });
  });
}
