/**
 * What a platform needs of a vault: the cases that the double and a real server both pass.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { WAIT } from "../../support/patience.ts";
import { at, MERGE_PATCH, startPlatform, type Platform } from "../platform.ts";

/** An engine of the vault, by the version of kv. */
export type Engine = "kv1" | "kv2";

/** A vault with two engines that a test fills. */
export interface ContractVault {
  readonly url: string;
  readonly namespace?: string;
  /** Where the engines are. */
  readonly mounts: Readonly<Record<Engine, string>>;
  write(engine: Engine, path: string, data: Readonly<Record<string, unknown>>): Promise<void>;
  /** Deletes a secret, or its latest version. */
  remove(engine: Engine, path: string): Promise<void>;
  /** A token that reads what is below `allowed/` and no more. */
  token(): Promise<string>;
  /** Ends a token. */
  revoke(token: string): Promise<void>;
  /** Whether a token of {@link ContractVault.token} was renewed. */
  wasRenewed(token: string): Promise<boolean>;
  stop(): Promise<void>;
}

const PATH = "/namespaces/default/sharedsecrets";
const ODD = "allowed/a b+c/ä&=;@:$,'(x)";

/** How a vault is tried. */
export interface ContractOptions {
  /** Called once. */
  readonly open: () => Promise<ContractVault>;
  /** Whether its time is that of the machine: then the platform's is too, and a renewal is waited for. */
  readonly realTime: boolean;
}

/** Declares the cases. */
export function describeVault(title: string, { open, realTime }: ContractOptions): void {
  // In the order they are written in: a token that is revoked stays so.
  describe(title, { shuffle: false }, () => {
    let vault: ContractVault;
    let platform: Platform;
    let token: string;
    beforeAll(async () => {
      vault = await open();
      token = await vault.token();
      const { url, namespace } = vault;
      const settings = { enabled: true, address: url, ...(namespace && { namespace }), auth: { token }, syncInterval: "1s" };
      platform = await startPlatform({ ...(realTime && { clock: systemClock }), config: JSON.stringify({ vault: settings }) });
    });
    afterAll(async () => {
      await platform.stop();
      await vault.stop();
    });

    async function follow(name: string, engine: Engine, path: string): Promise<void> {
      const annotations = {
        "management.platform/vault-version": engine,
        "management.platform/vault-mount": vault.mounts[engine],
        "management.platform/vault-path": path,
      };
      const made = await platform.admin.send("POST", PATH, { metadata: { name, annotations }, spec: { data: {} } });
      expect(made.code, made.text).toBe(201);
    }

    async function shows(name: string, condition: string, data: Readonly<Record<string, string>>): Promise<void> {
      await vi.waitFor(async () => {
        if (!realTime) await platform.clock.advance(1_000);
        await platform.management.settled();
        const answer = await platform.admin.send("GET", `${PATH}/${name}`);
        const conditions = (at(answer, "status", "conditions") ?? []) as { type: string; status: string; reason: string }[];
        const found = conditions.find(({ type }) => type === "VaultSynced");
        const texts = Object.entries((at(answer, "spec", "data") ?? {}) as Record<string, string>).map(([key, value]) => [
          key,
          Buffer.from(value, "base64").toString(),
        ]);
        expect([`${found?.status} ${found?.reason}`, Object.fromEntries(texts)]).toEqual([condition, data]);
      }, WAIT);
    }

    test.each<Engine>(["kv1", "kv2"])("a secret of %s is copied, followed, and kept when it is deleted", async (engine) => {
      await vault.write(engine, "allowed/db", { password: "one", port: 5_432, more: { a: [1] } });
      await follow(`db-${engine}`, engine, "allowed/db");
      await shows(`db-${engine}`, "True Copied", { password: "one", port: "5432", more: '{"a":[1]}' });
      await vault.write(engine, "allowed/db", { password: "two" });
      await shows(`db-${engine}`, "True Copied", { password: "two" });
      await vault.remove(engine, "allowed/db");
      await shows(`db-${engine}`, "False NotFound", { password: "two" });
      await vault.write(engine, "allowed/db", { password: "three" });
      await shows(`db-${engine}`, "True Copied", { password: "three" });
    });

    test.each<Engine>(["kv1", "kv2"])("a path of %s with odd characters is the one that was written", async (engine) => {
      await vault.write(engine, ODD, { odd: "ä" });
      await follow(`odd-${engine}`, engine, ODD);
      await shows(`odd-${engine}`, "True Copied", { odd: "ä" });
    });

    test.each<Engine>(["kv1", "kv2"])("what the token may not read in %s, and what is not there, is told apart", async (engine) => {
      await vault.write(engine, "denied/db", { password: "one" });
      await follow(`denied-${engine}`, engine, "denied/db");
      await shows(`denied-${engine}`, "False Forbidden", {});
      await follow(`missing-${engine}`, engine, "allowed/missing");
      await shows(`missing-${engine}`, "False NotFound", {});
    });

    if (realTime)
      test("the token is renewed long before its end", async () => {
        await vi.waitFor(async () => expect(await vault.wasRenewed(token)).toBe(true), WAIT);
      });

    test("a token that was revoked is reported, and the data stays", async () => {
      await vault.write("kv2", "allowed/last", { password: "one" });
      await follow("last", "kv2", "allowed/last");
      await shows("last", "True Copied", { password: "one" });
      await vault.revoke(token);
      await shows("last", "False Forbidden", { password: "one" });
      const gone = { metadata: { annotations: { "management.platform/vault-path": null } } };
      expect((await platform.admin.send("PATCH", `${PATH}/last`, gone, MERGE_PATCH)).code).toBe(200);
      await shows("last", "False Invalid", { password: "one" });
    });
  });
}
