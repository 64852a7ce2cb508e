import { expect, test } from "vitest";
import type { ClusterClient } from "../../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS, SECRETS, SERVICES } from "../../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../../src/kube/object/types.ts";
import type { EmbeddedCluster } from "../../../../src/cluster/cluster.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../../../src/engine/config/settings.ts";
import { clock, cluster, fill, start, stopAll, useRunningSyncers } from "../running-syncers.ts";

useRunningSyncers();

const PATCHES = [{ path: "metadata.annotations.secret", reference: { apiVersion: "v1", kind: "Secret" } }];
const NAMES = ["api", "db", "web"];
const LATE = { namespace: "shop", name: "late" };
const SETTINGS: Partial<Settings> = {
  deleteBrake: { percent: 30, count: 1 },
  references: { ...DEFAULT_SETTINGS.references, retentionMinutes: 1 },
};

const options = { namespace: "vc", toHost: { secrets: { enabled: true }, endpoints: { patches: PATCHES } }, settings: SETTINGS };

/** A tenant with Endpoints that refer to Secrets of the same names, all of them copied. */
async function copied(): Promise<{ tenant: EmbeddedCluster; on: EmbeddedCluster }> {
  const [tenant, on] = [await cluster("shop"), await cluster("vc")];
  for (const name of [...NAMES, LATE.name]) {
    await fill(tenant, "shop", [name]);
    const metadata = { namespace: "shop", name };
    await tenant.client.create(SECRETS, { apiVersion: "v1", kind: "Secret", metadata, data: { v: "YQ==" } } as KubeObject);
    await tenant.client.patch(ENDPOINTS, metadata, "merge", { metadata: { annotations: { secret: name } } });
  }
  await start({ ...options, tenant, on });
  return { tenant, on };
}

async function secretsOf({ client }: EmbeddedCluster): Promise<readonly (string | undefined)[]> {
  return (await client.list(SECRETS)).items.map(({ metadata }) => metadata.name).sort();
}

const toHost = (name: string) => `${name}-x-shop-x-blue`;

async function removeAll({ client }: EmbeddedCluster, secrets: boolean): Promise<void> {
  for (const name of NAMES)
    for (const resource of [...(secrets ? [SECRETS] : []), ENDPOINTS, SERVICES]) await client.delete(resource, { namespace: "shop", name });
}

test.each([true, false])(
  "copies of Secrets stay while the delete brake holds the copies that need them, also if the Secrets are gone: %s",
  async (secretsAreGone) => {
    const { tenant, on } = await copied();
    await stopAll();
    // As if the tenant had been restored from a backup.
    await removeAll(tenant, secretsAreGone);
    const syncer = await start({ ...options, tenant, on });
    await clock.advance(300_000);
    expect(await on.client.get(ENDPOINTS, { namespace: "vc", name: "web-x-shop-x-blue" })).toBeDefined();
    expect(await secretsOf(on)).toEqual(["api", "db", "late", "web"].map(toHost));
    expect(syncer.status().objects.flatMap(({ notes }) => notes.map(({ code }) => code))).toContain("DELETE_BRAKE");
  },
);

test.each<[string, (client: ClusterClient) => Promise<unknown>]>([
  ["Secret", (client) => client.delete(SECRETS, LATE)],
  ["reference", (client) => client.patch(ENDPOINTS, LATE, "merge", { metadata: { annotations: { secret: null } } })],
])("a copy whose %s goes while the delete brake is engaged stays until it is released", async (_, go) => {
  const { tenant, on } = await copied();
  await stopAll();
  await removeAll(tenant, false);
  await start({ ...options, tenant, on });
  await go(tenant.client);
  await clock.advance(300_000);
  expect(await secretsOf(on)).toContain(toHost("late"));
  await fill(tenant, "shop", NAMES);
  await clock.advance(200_000);
  expect(await secretsOf(on)).not.toContain(toHost("late"));
});
