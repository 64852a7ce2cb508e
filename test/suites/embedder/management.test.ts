/** `endpoint-sync/management`: a program with a platform of its own, and a Secret that follows it. */
import { expect, test, vi } from "vitest";
import { createEmbeddedCluster } from "../../../src/clusters.ts";
import {
  BASE_PATH,
  createHttpClient,
  createMemoryStore,
  createSecretSync,
  loadKubeConfig,
  parseManagementConfig,
  SHARED_SECRETS,
  startManagement,
  systemChance,
  systemClock,
  TOKEN_KEYS_PATH,
} from "../../../src/management.ts";
import { silentLogger } from "../../../src/base/logger.ts";
import { NAMESPACES, SECRETS } from "../../../src/kube/object/resource.ts";
import { WAIT } from "../../support/patience.ts";

test("starts with a store, a key and a configuration of the program's, and serves them", async () => {
  const parsed = parseManagementConfig("auth: { accessKeyMaxTTLSeconds: 60 }");
  if (!parsed.ok) throw new Error("The configuration is valid");
  const adminKey = "a-key-of-the-program-that-is-long-enough";
  const management = await startManagement({ tls: false, store: createMemoryStore(), config: parsed.config, adminKey });
  try {
    const answer = await fetch(`${management.url}${BASE_PATH}/apis/management.platform/v1/config/config`, {
      headers: { authorization: `Bearer ${adminKey}` },
    });
    expect(await answer.json()).toMatchObject({ status: { auth: { accessKeyMaxTTLSeconds: 60 } } });
    expect(await (await fetch(`${management.url}${TOKEN_KEYS_PATH}`)).json()).toEqual(management.tokenKeys());
  } finally {
    await management.stop();
  }
});

test("keeps a Secret of a cluster equal to a SharedSecret", async () => {
  const [management, cluster] = await Promise.all([startManagement(), createEmbeddedCluster()]);
  const kubeConfig = await loadKubeConfig({ text: management.kubeconfig(management.adminKey!) });
  const platform = createHttpClient({ kubeConfig, clock: systemClock });
  const at = { namespace: "shop", name: "db" };
  const runtime = { clock: systemClock, chance: systemChance, logger: silentLogger };
  const sync = createSecretSync({ platform, cluster: cluster.client, source: at, target: at, ...runtime });
  try {
    await cluster.client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    await management.registry.create(SHARED_SECRETS, "shop", { metadata: { name: "db" }, spec: { data: { a: "MQ==" } } });
    await sync.start();
    await vi.waitFor(async () => expect((await cluster.client.get(SECRETS, at))?.["data"]).toEqual({ a: "MQ==" }), WAIT);
  } finally {
    await sync.stop();
    await platform.close();
    await Promise.all([management.stop(), cluster.stop()]);
  }
});
