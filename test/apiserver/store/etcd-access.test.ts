/** Access to etcd: certificates, users and tokens. */
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { isEngineError } from "../../../src/base/errors.ts";
import { openEtcdStore, type EtcdStoreOptions } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import type { StoreEvent } from "../../../src/apiserver/store/store.ts";
import { key, object, PREFIX, settled } from "../../conformance/store-setting.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { createEtcdCertificates, HAS_OPENSSL, type EtcdCertificates } from "../support/etcd-certificates.ts";

/** After a failure; before it, a handshake may take its time. */
const SOON = { connectMs: 20_000, requestMs: 20_000, giveUpMs: 1_500 };

async function refusal(options: EtcdStoreOptions): Promise<string> {
  const error = await openEtcdStore({ times: SOON, ...options }).catch((reason: unknown) => reason);
  return isEngineError(error) ? `${error.code}: ${error.message}` : `no refusal: ${String(error)}`;
}

describeEtcd(
  "an etcd that demands certificates",
  () => {
    let etcd: Etcd;
    let certificates: EtcdCertificates;
    beforeAll(async () => {
      certificates = createEtcdCertificates();
      const { server, ca } = certificates;
      const args = ["--client-cert-auth", `--cert-file=${server.certificate}`, `--key-file=${server.key}`, `--trusted-ca-file=${ca}`];
      etcd = await startEtcd({ scheme: "https", args });
    });
    afterAll(async () => {
      await etcd.remove();
      rmSync(certificates.folder, { recursive: true });
    });

    test("is used by anyone who has one, and recognised", async () => {
      const { caPem, client } = certificates;
      const store = await openEtcdStore({ endpoints: [etcd.url], tls: { caPem, ...client } });
      const events: StoreEvent[] = [];
      await store.watch({ prefix: PREFIX, after: await store.revision(), onEvent: (event) => events.push(event) });
      const created = await store.create(key("a"), object("a", "one"));
      expect(await store.get(key("a"))).toEqual(created);
      await settled(() => events.length === 1);
      await store.close();
    });

    test("is refused with an authority that did not sign it, and refuses who has none", async () => {
      const { caPem, client } = certificates;
      const endpoints = [etcd.url];
      expect(await refusal({ endpoints, tls: { ...client } })).toMatch(/^STORE_FAILED: Cannot reach etcd: .*certificate/);
      expect(await refusal({ endpoints, tls: { caPem, ...client, serverName: "other.example" } })).toMatch(
        /^STORE_FAILED: Cannot reach etcd: .*other\.example/,
      );
      expect(await refusal({ endpoints, tls: { caPem } })).toMatch(/^STORE_FAILED: Cannot reach etcd: /);
      expect(await refusal({ endpoints: [etcd.url.replace("https", "http")] })).toMatch(/^STORE_FAILED: Cannot reach etcd: /);
    });
  },
  HAS_OPENSSL ? undefined : "openssl",
);

describeEtcd("an etcd with users", () => {
  let etcd: Etcd;
  const credentials = { user: "platform", password: "secret" };
  const asRoot = { name: "root", password: "root" };
  const encode = (text: string) => Buffer.from(text).toString("base64");

  beforeAll(async () => {
    // Tokens last for a second after their last use.
    etcd = await startEtcd({ args: ["--auth-token-ttl=1"] });
    await etcd.ask("/v3/auth/user/add", asRoot);
    await etcd.ask("/v3/auth/user/grant", { user: "root", role: "root" });
    await etcd.ask("/v3/auth/role/add", { name: "platform" });
    const perm = { permType: "READWRITE", key: encode("/platform/"), range_end: encode("/platform0") };
    await etcd.ask("/v3/auth/role/grant", { name: "platform", perm });
    await etcd.ask("/v3/auth/user/add", { name: credentials.user, password: credentials.password });
    await etcd.ask("/v3/auth/user/grant", { user: credentials.user, role: "platform" });
    await etcd.ask("/v3/auth/enable", {});
  });
  afterAll(() => etcd.remove());

  const open = () => openEtcdStore({ endpoints: [etcd.url], prefix: "/platform", credentials });

  test("is used with a right on the prefix alone, and goes on when the token has expired", async () => {
    const store = await open();
    const events: string[] = [];
    await store.watch({ prefix: PREFIX, after: await store.revision(), onEvent: (event) => events.push(event.key) });
    await store.create(key("a"), object("a"));
    for (const name of ["b", "c"]) {
      // The token is not used meanwhile: the heartbeat is slower.
      await delay(systemClock, 2_500);
      const stale = await etcd.ask("/v3/kv/range", { key: encode("/platform/last") }, "no-such-token.1");
      expect(stale["error"]).toBe("etcdserver: invalid auth token");
      await store.create(key(name), object(name));
    }
    await settled(() => events.length === 3);
    expect(events).toEqual([key("a"), key("b"), key("c")]);
    expect((await store.list({ prefix: PREFIX })).objects).toHaveLength(3);
    await store.close();
  });

  test("forgets tokens when it restarts, which callers do not notice", async () => {
    const store = await open();
    const events: string[] = [];
    await store.watch({ prefix: PREFIX, after: await store.revision(), onEvent: (event) => events.push(event.key) });
    await store.create(key("before"), object("a"));
    await etcd.kill();
    await etcd.start();
    await store.create(key("behind"), object("a"));
    await settled(() => events.length === 2);
    await store.close();
  });

  test("refuses others, in words that help", async () => {
    const endpoints = [etcd.url];
    expect(await refusal({ endpoints, prefix: "/platform" })).toMatch(/^STORE_FAILED: etcd refused the request: .*user name is empty/);
    expect(await refusal({ endpoints, prefix: "/platform", credentials: { ...credentials, password: "wrong" } })).toMatch(
      /^STORE_FAILED: etcd refused the request: .*authentication failed/,
    );
    expect(await refusal({ endpoints, prefix: "/other", credentials })).toMatch(
      /^STORE_FAILED: etcd refused the request: .*permission denied/,
    );
  });
});

describe("endpoints", () => {
  test.each([
    { endpoints: [], why: "Cannot reach etcd: no endpoint is specified" },
    { endpoints: ["127.0.0.1:2379"], why: 'Invalid address of etcd: "127.0.0.1:2379"' },
  ])("that are none are refused: $why", async ({ endpoints, why }) => {
    expect(await refusal({ endpoints })).toContain(`CONFIG_VALUE: ${why}`);
  });
});
