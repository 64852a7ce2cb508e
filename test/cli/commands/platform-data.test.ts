/**
 * `platform-data`: backup of a server that runs, restoration, check, and which key seals what.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TEAMS } from "../../../src/management/kinds/types.ts";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { createBackupCipher } from "../../../src/management/data/backup-seals.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import { keyId, cipherOf } from "../../conformance/resealable.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { until } from "../../support/fake-clock.ts";
import { portFor, useServingCommands, type ServingCommand } from "../serving-commands.ts";
import { run } from "../support.ts";

const { newPath, serve: serveCommand, clientOf: clientBy } = useServingCommands();

function keyFile(...bytes: number[]): string {
  const path = newPath("keys");
  writeFileSync(path, bytes.map((byte) => `${Buffer.alloc(32, byte).toString("base64")}\n`).join(""));
  return path;
}

interface Running extends ServingCommand {
  readonly kubeconfig: string;
}

async function serve(data: string, keys: string, kubeconfig?: string): Promise<Running> {
  return serveFrom(["--data", data, ...(await portFor(data))], keys, kubeconfig);
}

/** @param where The options that say where everything is kept. */
async function serveFrom(where: readonly string[], keys: string, kubeconfig = newPath("kubeconfig")): Promise<Running> {
  const argv = ["management", ...where, "--encryption-key-file", keys, "--kubeconfig", kubeconfig, "--log-format", "json"];
  return { ...(await serveCommand(argv, { ready: /get teams\n|first start\n/ })), kubeconfig };
}

const clientOf = (kubeconfig: string) => clientBy({ text: readFileSync(kubeconfig, "utf8") });

const team = (name: string) => ({ apiVersion: TEAMS.apiVersion, kind: "Team", metadata: { name }, spec: { users: ["jane"] } });
const teamNames = async (client: ClusterClient) => (await client.list(TEAMS)).items.map(({ metadata }) => metadata.name);

/** Runs `platform-data` with keys; answers what it says as JSON. */
async function platformData(keys: string, ...argv: readonly string[]) {
  const { code, stdout, stderr } = await run(["platform-data", ...argv, "--encryption-key-file", keys, "-o", "json"]);
  return { code, stderr, said: stdout === "" ? undefined : (JSON.parse(stdout) as Record<string, unknown>) };
}

describe("a backup", () => {
  test("is taken while the server runs and writes, is whole, and is restored with kubeconfigs that go on working", async () => {
    const [data, backup, restored, keys] = [newPath("data"), newPath("backup"), newPath("data"), keyFile(1)];
    const first = await serve(data, keys);
    const client = await clientOf(first.kubeconfig);
    const before = await client.create(TEAMS, team("before"));
    let writing = true;
    const writes = (async () => {
      for (let index = 0; writing; index += 1) await client.create(TEAMS, team(`t${index}`));
      await client.create(TEAMS, team("after"));
    })();
    const taken = await platformData(keys, "backup", backup, "--data", data);
    writing = false;
    await writes;
    expect([taken.code, taken.stderr]).toEqual([0, ""]);
    expect(taken.said).toMatchObject({ state: "backup", kinds: { Team: expect.any(Number), User: 1, OwnedAccessKey: 1 }, faults: [] });
    expect(readdirSync(backup).sort()).toEqual(["management.db", "server.json"]);
    expect(statSync(join(backup, "management.db")).mode & 0o077).toBe(0);
    expect(readFileSync(join(backup, "management.db"), "latin1")).not.toContain("jane");
    await first.stop();

    const refused = await run(["management", "--data", backup, "--encryption-key-file", keys, "--kubeconfig", newPath("kubeconfig")]);
    expect([refused.code === 0, refused.stderr]).toEqual([false, expect.stringContaining("it is a backup")]);

    const again = await platformData(keys, "restore", backup, "--data", restored);
    expect([again.code, again.said]).toEqual([0, expect.objectContaining({ state: "data", digest: taken.said!["digest"], faults: [] })]);
    // Clients of the first restored server must not take the revisions of the second one for those that they have seen.
    const twice = await platformData(keys, "restore", backup, "--data", newPath("data"));
    expect(Number(twice.said!["revision"])).toBeGreaterThan(Number(again.said!["revision"]));
    await serve(restored, keys);
    const same = await clientOf(first.kubeconfig);
    const names = await teamNames(same);
    expect([names.includes("before"), names.includes("after")]).toEqual([true, false]);
    const read = (await same.get(TEAMS, { namespace: "", name: "before" }))!;
    expect(read.metadata.uid).toBe(before.metadata.uid);
    expect(Number(read.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion));
  });

  test("of a server that is stopped, or was killed and has left its socket, comes from the file", async () => {
    const [data, keys] = [newPath("data"), keyFile(1)];
    const { stop, kubeconfig } = await serve(data, keys);
    await (await clientOf(kubeconfig)).create(TEAMS, team("shop"));
    await stop();
    writeFileSync(join(data, "server.sock"), "");
    const { code, said } = await platformData(keys, "backup", newPath("backup"), "--data", data);
    expect([code, said]).toEqual([0, expect.objectContaining({ kinds: expect.objectContaining({ Team: 1 }) })]);
    await serve(data, keys);
  });

  test("does not go where something is already, nor from where nothing is, nor without the key", async () => {
    const [data, backup, keys] = [newPath("data"), newPath("backup"), keyFile(1)];
    await (await serve(data, keys)).stop();
    expect((await platformData(keys, "backup", backup, "--data", data)).code).toBe(0);
    const twice = await platformData(keys, "backup", backup, "--data", data);
    expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("it is not empty")]);
    const other = newPath("data");
    await (await serve(other, keys)).stop();
    expect((await platformData(keys, "restore", backup, "--data", other)).stderr).toContain("it is not empty");
    expect((await platformData(keys, "backup", newPath("backup"), "--data", newPath("none"))).stderr).toContain(
      "contains no data of the management API",
    );
    expect((await platformData(keyFile(2), "backup", newPath("backup"), "--data", data)).stderr).toContain(`Add the key ${keyId(1)}`);
    const keyless = await run(["platform-data", "check", "--data", data]);
    expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringContaining("its encryption key is not available")]);
  });

  test("that was changed since is detected, even if the attacker has the key", async () => {
    const [data, backup, keys] = [newPath("data"), newPath("backup"), keyFile(1)];
    const { stop, kubeconfig } = await serve(data, keys);
    await (await clientOf(kubeconfig)).create(TEAMS, team("shop"));
    await stop();
    await platformData(keys, "backup", backup, "--data", data);
    expect((await platformData(keys, "check", "--data", backup)).code).toBe(0);
    const store = openSqliteStore({ path: join(backup, "management.db"), cipher: createBackupCipher(cipherOf(1)).cipher });
    const gone = (await store.get("/management.platform/teams/shop"))!;
    await store.delete(gone.key, gone.revision);
    await store.close();
    const { code, said } = await platformData(keys, "check", "--data", backup);
    expect([code, said!["faults"]]).toEqual([1, expect.arrayContaining(["/management.platform/teams/: 0 of 1 rows are left"])]);
    expect((await platformData(keys, "restore", backup, "--data", newPath("data"))).stderr).toContain("0 of 1 rows are left");
  });
});

describe("keys", () => {
  test("are reported while the server seals again, until the old one is not needed any more", async () => {
    const [data, old, both] = [newPath("data"), keyFile(1), keyFile(2, 1)];
    await (await serve(data, old)).stop();
    const { terminal, stop } = await serve(data, both);
    await until("it has told", () => terminal.stderr.includes("Every value is encrypted with the first key"));
    const { said } = await platformData(both, "keys", "--data", data);
    expect(said).toEqual([
      { key: keyId(2), values: expect.any(Number), first: true },
      { key: keyId(1), values: 0, first: false },
    ]);
    await stop();
    expect(readFileSync(join(data, "management.db"), "latin1")).not.toContain(keyId(1));
    await serve(data, keyFile(2));
  });
});

test.each([
  [["check"], "Specify a folder with --data, or an etcd with --etcd"],
  [["check", "--data", "x", "--etcd", "http://127.0.0.1:1"], "--data and --etcd cannot be combined"],
  [["check", "--data", "x", "--etcd-user", "root"], "Options for etcd need --etcd"],
  [["check", "--etcd", "http://127.0.0.1:1", "--etcd-user", "root"], "--etcd-user and --etcd-password-file must be specified together"],
  [["check", "--etcd", "http://127.0.0.1:1", "--etcd-cert", "c"], "--etcd-cert and --etcd-key must be specified together"],
  [["check", "--etcd", "127.0.0.1"], "Expected URLs"],
])("%j is refused", async (argv, message) => {
  const { code, stderr } = await run(["platform-data", ...argv, "--encryption-key-file", keyFile(1)]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

describeEtcd("with etcd", () => {
  let etcd: Etcd;
  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());

  test("everything comes along from a folder and back, and the digest stays", async () => {
    const [data, backup, second, back, keys] = [newPath("data"), newPath("b"), newPath("b"), newPath("data"), keyFile(1)];
    const { stop, kubeconfig } = await serve(data, keys);
    await (await clientOf(kubeconfig)).create(TEAMS, team("shop"));
    await stop();
    const where = ["--etcd", etcd.url, "--etcd-prefix", "/platform/"];
    const taken = await platformData(keys, "backup", backup, "--data", data);
    const inEtcd = await platformData(keys, "restore", backup, ...where);
    expect((await platformData(keys, "restore", backup, ...where)).said).toEqual(inEtcd.said);
    // Clients may have seen revisions since the backup.
    const [, told] = /etcd continues from (\d+)\. Restart clients that have seen a higher resourceVersion/.exec(inEtcd.stderr) ?? [];
    expect(Number(told)).toBeGreaterThan(Number(taken.said!["revision"]) + 1_999);
    expect(inEtcd.said!["revision"]).toBe(Number(told));
    const fromEtcd = await platformData(keys, "backup", second, ...where);
    const restored = await platformData(keys, "restore", second, "--data", back);
    const all = [taken, inEtcd, fromEtcd, restored];
    expect(all.map(({ code, said }) => [code, said!["digest"], said!["faults"]])).toEqual(all.map(() => [0, taken.said!["digest"], []]));
    expect(inEtcd.said!["state"]).toBe("data");
    // Certificate and port are not in etcd.
    writeFileSync(join(back, "server.json"), readFileSync(join(data, "server.json")));
    await serve(back, keys);
    expect(await teamNames(await clientOf(kubeconfig))).toEqual(["shop"]);
  });

  test("keys are reported while servers seal again, until the old one is not needed any more", async () => {
    const [where, old, both, alone] = [["--etcd", etcd.url, "--etcd-prefix", "/keys/"], keyFile(1), keyFile(2, 1), keyFile(2)];
    const first = await serveFrom([...where, "--public-url", "https://127.0.0.1:1"], old);
    await first.stop();
    expect((await platformData(both, "keys", ...where)).said).toEqual([
      { key: keyId(2), values: 0, first: true },
      { key: keyId(1), values: expect.any(Number), first: false },
    ]);
    const missing = await platformData(alone, "keys", ...where);
    expect([missing.code, missing.said, missing.stderr]).toEqual([1, undefined, expect.stringContaining(`Add the key ${keyId(1)}`)]);
    const { terminal, stop } = await serveFrom(where, both);
    await until("it has told", () => terminal.stderr.includes("Every value is encrypted with the first key"));
    expect((await platformData(both, "keys", ...where)).said).toEqual([
      { key: keyId(2), values: expect.any(Number), first: true },
      { key: keyId(1), values: 0, first: false },
    ]);
    await stop();
    expect((await platformData(alone, "check", ...where)).said).toMatchObject({ state: "data", faults: [] });
  });
});
