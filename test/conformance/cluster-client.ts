/**
 * What every ClusterClient promises (`src/kube/object/cluster-client.ts`) and what the cluster behind it does, as a suite that
 * each client runs. It keeps to a namespace of its own, so that it can be pointed at any cluster.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { CONFIG_MAPS } from "../../src/kube/object/resource.ts";
import { kindCases } from "./kinds.ts";
import { patchCases } from "./patches.ts";
import { createNamespace, objectsOf, type SandboxNamespace } from "./sandbox-namespace.ts";
import { codeOf, type Setting } from "./setting.ts";
import { deleteCases, getAndCreateCases, updateCases } from "./calls.ts";
import { listCases } from "./lists.ts";
import { collect, watchCases } from "./watches.ts";

/** A client and the cluster behind it. */
export interface ClientUnderTest {
  readonly client: ClusterClient;
  /** Makes the cluster forget its history. */
  readonly compact?: () => Promise<void>;
  /** Cuts off every open watch. */
  readonly disconnect?: () => void;
  close(): Promise<void>;
}

/** One implementation. */
export interface ClusterClientSuiteOptions {
  readonly name: string;
  readonly create: () => Promise<ClientUnderTest>;
  /** What `create` offers besides a client; cases that need what is missing do not run. */
  readonly offers?: readonly ("compact" | "disconnect")[];
}

/** Runs every case against a client that `create` makes. */
export function clusterClientSuite({ name, create, offers = [] }: ClusterClientSuiteOptions): void {
  describe(name, () => {
    let under: ClientUnderTest;
    let sandbox: SandboxNamespace;
    const setting = (): Setting => ({ client: under.client, namespace: sandbox.name, objects: objectsOf(sandbox.name) });
    beforeAll(async () => {
      under = await create();
      sandbox = await createNamespace(under.client);
    });
    afterAll(async () => {
      await sandbox?.remove();
      await under?.close();
    });

    getAndCreateCases(setting);
    updateCases(setting);
    patchCases(setting);
    deleteCases(setting);
    listCases(setting);
    watchCases(setting);
    kindCases(setting);

    describe("history and broken streams", () => {
      test.runIf(offers.includes("compact"))("a watch from a compacted state fails with API_EXPIRED", async () => {
        const { client, objects } = setting();
        const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace: sandbox.name });
        await client.create(CONFIG_MAPS, objects.configMap("after-the-list"));
        await under.compact!();
        expect(await codeOf(collect(client, { resourceVersion, namespace: sandbox.name }, 1))).toBe("API_EXPIRED");
      });

      test.runIf(offers.includes("compact"))("a page of a compacted state fails with API_EXPIRED", async () => {
        const { client, objects } = setting();
        for (const label of ["page-a", "page-b"]) await client.create(CONFIG_MAPS, objects.configMap(label));
        const page = await client.list(CONFIG_MAPS, { namespace: sandbox.name, limit: 1 });
        await client.create(CONFIG_MAPS, objects.configMap("page-c"));
        await under.compact!();
        const next = client.list(CONFIG_MAPS, { namespace: sandbox.name, limit: 1, continue: page.continue! });
        expect(await codeOf(next)).toBe("API_EXPIRED");
      });

      test.runIf(offers.includes("disconnect"))("a stream that breaks fails with API_UNAVAILABLE", async () => {
        const { client } = setting();
        const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace: sandbox.name });
        const onOpen = () => under.disconnect!();
        expect(await codeOf(collect(client, { resourceVersion, namespace: sandbox.name, onOpen }, 1))).toBe("API_UNAVAILABLE");
      });

      test("a client that is closed refuses calls and ends its watches", async () => {
        const own = await create();
        const { resourceVersion } = await own.client.list(CONFIG_MAPS);
        let closing: Promise<void> | undefined;
        const watching = collect(own.client, { resourceVersion, onOpen: () => void (closing = own.client.close()) }, 1);
        expect(await codeOf(watching)).toBe("API_UNAVAILABLE");
        await closing;
        expect(await codeOf(own.client.list(CONFIG_MAPS))).toBe("API_UNAVAILABLE");
        await own.close();
      });
    });
  });
}
