/**
 * Copies of a vault's secrets where two management servers share one etcd: one asks the vault, and the other one goes on.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { openEtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { WAIT } from "../../support/patience.ts";
import { at, clientOf } from "../platform.ts";
import { startVault, type VaultDouble } from "../vault/vault-double.ts";

const TIMES = { leaseDurationSeconds: 60, renewDeadlineSeconds: 40, retryPeriodSeconds: 0.3 };
const SECRET = "/namespaces/default/sharedsecrets";

describeEtcd("a vault and two management servers", () => {
  let etcd: Etcd;
  let vault: VaultDouble;
  beforeAll(async () => {
    [etcd, vault] = await Promise.all([startEtcd(), startVault()]);
  });
  afterAll(async () => {
    await vault.stop();
    await etcd.remove();
  });

  test("the leader copies, and after its end the other server does", async () => {
    const settings = { enabled: true, address: vault.url, auth: { token: "root-token" }, syncInterval: "1s" };
    const parsed = parseManagementConfig(JSON.stringify({ vault: settings }));
    const config = parsed.ok ? parsed.config : expect.fail("the configuration is good");
    const start = async (identity: string, adminKey?: string): Promise<Management> => {
      const store = await openEtcdStore({ endpoints: [etcd.url], prefix: "/vault/" });
      return startManagement({
        tls: false,
        config,
        store,
        sharing: { times: TIMES, identity },
        ...(adminKey !== undefined && { adminKey }),
      });
    };
    const first = await start("first");
    const { adminKey } = first;
    const running = new Set([first]);
    try {
      await vi.waitFor(() => expect(first.leading).toBe(true), WAIT);
      const second = await start("second");
      running.add(second);
      const admin = clientOf(second.url, adminKey!);
      vault.kv2("secret", "db", { password: "one" });
      const annotations = { version: "kv2", mount: "secret", path: "db" };
      const named = Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`management.platform/vault-${name}`, value]));
      const made = await admin.send("POST", SECRET, { metadata: { name: "db", annotations: named }, spec: { data: {} } });
      expect(made.code, made.text).toBe(201);
      const password = async () => at(await admin.send("GET", `${SECRET}/db`), "spec", "data", "password");
      await vi.waitFor(async () => expect(await password()).toBe("b25l"), WAIT);
      expect([first.leading, second.leading]).toEqual([true, false]);
      await vi.waitFor(() => expect(vault.tokenAsked).toEqual(["lookup-self root-token"]), WAIT);
      vault.kv2("secret", "db", { password: "two" });
      running.delete(first);
      await first.stop();
      await vi.waitFor(async () => expect(await password()).toBe("dHdv"), WAIT);
      expect(second.leading).toBe(true);
      await vi.waitFor(() => expect(vault.tokenAsked).toHaveLength(2), WAIT);
    } finally {
      for (const server of running) await server.stop();
    }
  });
});
