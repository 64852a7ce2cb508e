/**
 * A platform that once had data never starts empty by itself: files beside the data show that there were some.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keepProgress, readRevisionFile } from "../../../src/cli/management/revision-file.ts";
import { openSqliteStore } from "../../../src/apiserver/store/sqlite/sqlite-store.ts";
import { cipherOf } from "../../conformance/resealable.ts";
import { describeEtcd, lacksRestore, startEtcd, type Etcd } from "../../support/etcd.ts";
import { portFor, useServingCommands } from "../serving-commands.ts";
import { run } from "../support.ts";

const { folder: root, newPath, serve } = useServingCommands();
const KEYS = join(root, "keys");
beforeAll(() => writeFileSync(KEYS, `${Buffer.alloc(32, 1).toString("base64")}\n`));

const READY = { ready: /get teams\n|first start\n/ };
const argvOf = (where: readonly string[], kubeconfig = newPath("kubeconfig")) => [
  ...["management", ...where, "--encryption-key-file", KEYS, "--kubeconfig", kubeconfig, "--log-format", "json"],
];
const begin = async (data: string, ...more: readonly string[]) => serve(argvOf(["--data", data, ...(await portFor(data)), ...more]), READY);
const refused = async (data: string) => {
  const { code, stdout, stderr } = await run(argvOf(["--data", data]));
  return { ended: code !== 0, stdout, stderr };
};

/** Names and sizes of what is in a folder. */
const looksOf = (folder: string) => readdirSync(folder).map((name) => [name, statSync(join(folder, name)).size]);

/** Data that a server has left. */
async function leaveData(): Promise<string> {
  const data = newPath("data");
  await (await begin(data)).stop();
  return data;
}

const LOST = /there is no data in "[^"]*management.db", but server.json shows that a server has used it/;
const BEHIND =
  /management.db": writes are missing from it; it ends at revision \d+, but the server that had it open has acknowledged writes up to \d+/;

const LOSSES: readonly (readonly [string, (data: string) => void | Promise<void>, RegExp])[] = [
  ["is missing", (data) => rmSync(join(data, "management.db")), LOST],
  ["is of no bytes", (data) => truncateSync(join(data, "management.db"), 0), LOST],
  [
    "has no object in it",
    async (data) => {
      rmSync(join(data, "management.db"));
      await openSqliteStore({ path: join(data, "management.db"), cipher: cipherOf(1) }).close();
    },
    BEHIND,
  ],
];

describe("a server whose management.db", () => {
  test.each(LOSSES)("%s does not start, says what is wrong and what to do, and changes nothing", async (_what, lose, told) => {
    const data = await leaveData();
    await lose(data);
    const before = looksOf(data);
    for (const _time of [1, 2]) {
      const { ended, stdout, stderr } = await refused(data);
      expect([ended, stdout]).toEqual([true, ""]);
      expect(stderr).toMatch(told);
      expect(stderr).toMatch(/restore a backup.*--accept-data-loss/);
      expect(looksOf(data)).toEqual(before);
    }
  });

  test("is gone begins an empty platform with --accept-data-loss, and needs it once", async () => {
    const data = await leaveData();
    rmSync(join(data, "management.db"));
    const first = await begin(data, "--accept-data-loss");
    expect(first.terminal.stdout).toContain("shown once");
    await first.stop();
    const keyFile = newPath("key");
    writeFileSync(keyFile, KEY);
    const second = await begin(data);
    expect(second.terminal.stdout).toContain("first start");
  });

  test("was being made when the first start ended starts", async () => {
    const data = newPath("data");
    mkdirSync(data);
    writeFileSync(join(data, "management.db"), "");
    expect((await begin(data, "--port", "0")).terminal.stdout).toContain("shown once");
  });
});

/** State of a server that is killed now: a copy of its files, by another process, since this one would release its lock on them. */
function killedCopy(data: string, ...files: readonly string[]): string {
  const copy = newPath("copy");
  mkdirSync(copy);
  expect(spawnSync("cp", [...files.map((file) => join(data, file)), copy]).status).toBe(0);
  return copy;
}
const KEY = "administrator-0123456789abcdefghijklmn";
const DATABASE = "management.db";
const LOG = "management.db-wal";
const REVISION = "management.revision";
const ALL = [DATABASE, LOG, REVISION, "server.json"];

/** By another process, as {@link killedCopy}. */
function shell(folder: string, script: string): void {
  expect(spawnSync("sh", ["-ec", script], { cwd: folder }).status).toBe(0);
}

describe("a server that was killed", () => {
  test("does not start without its log, whatever is in the database, but for --accept-data-loss", async () => {
    const data = newPath("data");
    await begin(data);
    const copy = killedCopy(data, DATABASE, "server.json");
    expect(statSync(join(copy, DATABASE)).size).toBeGreaterThan(0);
    const before = looksOf(copy);
    const { ended, stdout, stderr } = await refused(copy);
    expect([ended, stdout, looksOf(copy)]).toEqual([true, "", before]);
    expect(stderr).toContain(`"${join(copy, LOG)}" is missing; the server that had the data open did not close it`);
    expect(stderr).toContain("--accept-data-loss");
    // How much SQLite has moved into the database by then is random.
    const again = await begin(copy, "--port", "0", "--accept-data-loss");
    expect(again.terminal.stdout).toMatch(/shown once|has not changed since the first start/);
  });

  test("starts with its log, once something else has opened the data, and after a start with another key", async () => {
    const data = newPath("data");
    await begin(data);
    const [first, second, third] = [1, 2, 3].map(() => killedCopy(data, DATABASE, LOG, "server.json"));
    await begin(first!, "--port", "0");
    expect((await run(["platform-data", "check", "--data", second!, "--encryption-key-file", KEYS])).code).toBe(0);
    await begin(second!, "--port", "0");
    const wrong = newPath("keys");
    writeFileSync(wrong, `${Buffer.alloc(32, 2).toString("base64")}\n`);
    const argv = ["management", "--data", third!, "--encryption-key-file", wrong, "--kubeconfig", newPath("kubeconfig")];
    expect((await run(argv)).stderr).toContain("encrypted with a different key");
    await begin(third!, "--port", "0");
  });

  test("has left data whose backup can be restored and started", async () => {
    const data = newPath("data");
    await begin(data);
    const [copy, backup, restored] = [killedCopy(data, DATABASE, LOG, "server.json"), newPath("backup"), newPath("data")];
    for (const argv of [
      ["backup", backup, "--data", copy],
      ["restore", backup, "--data", restored],
    ]) {
      // prettier-ignore
      expect((await run(["platform-data", ...argv, "--encryption-key-file", KEYS])).code).toBe(0);
    }
    await begin(restored, "--port", "0");
  });
});

describe("a server that was killed, and whose log", () => {
  /** Files of a server that is killed after three writes of its second life. */
  async function leaveWrites(): Promise<string> {
    const data = await leaveData();
    const store = openSqliteStore({ path: join(data, DATABASE), cipher: cipherOf(1), progress: keepProgress(data, false) });
    let [stored] = (await store.list({ prefix: "/" })).objects;
    for (const _time of [1, 2, 3]) stored = await store.update(stored!.key, stored!.object, stored!.revision);
    const copy = killedCopy(data, ...ALL);
    await store.close();
    const kept = JSON.parse(readFileSync(join(copy, "server.json"), "utf8")) as object;
    writeFileSync(join(copy, "server.json"), JSON.stringify({ ...kept, open: true }));
    return copy;
  }

  const DAMAGES: readonly (readonly [string, string])[] = [
    ["was cut within its header", `truncate -s 20 ${LOG}`],
    ["was cut in half", `truncate -s $(($(stat -c %s ${LOG}) / 2)) ${LOG}`],
    ["has one wrong byte", `printf '\\377' | dd of=${LOG} bs=1 seek=9000 conv=notrunc status=none`],
    ["lacks the end of its last write", `truncate -s -1 ${LOG}`],
  ];

  test.each(DAMAGES)("%s does not start, says what is wrong, and changes nothing; nor is there a backup of it", async (_what, damage) => {
    const copy = await leaveWrites();
    shell(copy, damage);
    const before = looksOf(copy);
    for (const _time of [1, 2]) {
      const { ended, stdout, stderr } = await refused(copy);
      expect([ended, stdout, looksOf(copy)]).toEqual([true, "", before]);
      expect(stderr).toMatch(BEHIND);
      expect(stderr).toMatch(/restore a backup.*--accept-data-loss/);
    }
    const { code, stderr } = await run(["platform-data", "backup", newPath("backup"), "--data", copy, "--encryption-key-file", KEYS]);
    expect([code === 0, looksOf(copy)]).toEqual([false, before]);
    expect(stderr).toMatch(BEHIND);
  });

  test("was emptied does not start", async () => {
    const copy = await leaveWrites();
    shell(copy, `: > ${LOG}`);
    expect((await refused(copy)).stderr).toMatch(BEHIND);
    expect((await refused(copy)).ended).toBe(true);
  });

  test("is gone has no backup either", async () => {
    const copy = await leaveWrites();
    rmSync(join(copy, LOG));
    const { stderr } = await run(["platform-data", "backup", newPath("backup"), "--data", copy, "--encryption-key-file", KEYS]);
    expect(stderr).toContain(`"${join(copy, LOG)}" is missing`);
  });

  test("is older, with its database, does not start; with --accept-data-loss no revision comes twice", async () => {
    const older = await leaveWrites();
    shell(older, `cp ${DATABASE} older; cp ${LOG} older-wal; cp server.json killed`);
    await (await begin(older, "--port", "0")).stop();
    const store = openSqliteStore({ path: join(older, DATABASE), cipher: cipherOf(1), progress: keepProgress(older, false) });
    const [stored] = (await store.list({ prefix: "/" })).objects;
    const { revision: answered } = (await store.update(stored!.key, stored!.object, stored!.revision))!;
    await store.close();
    shell(older, `mv older ${DATABASE}; mv older-wal ${LOG}; mv killed server.json`);
    expect((await refused(older)).stderr).toMatch(BEHIND);
    await (await begin(older, "--port", "0", "--accept-data-loss")).stop();
    expect(readRevisionFile(older)).toBeGreaterThan(answered + 999_999_999);
    await begin(older, "--port", "0");
  });

  test("is whole starts, also when its machine failed before the last revision was noted", async () => {
    for (const failing of ["true", `printf '0000000000000002\\n' > ${REVISION}`, `: > ${REVISION}`, `rm ${REVISION}`]) {
      const copy = await leaveWrites();
      shell(copy, failing);
      await (await begin(copy, "--port", "0")).stop();
      expect(readRevisionFile(copy)).toBeGreaterThan(4);
    }
  });
});

describe("a server whose files are taken away while it runs", () => {
  const api = async (url: string, path: string, method = "GET") => {
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
    const body = { apiVersion: "management.platform/v1", kind: "Team", metadata: { name: "shop" }, spec: { users: ["jane"] } };
    const response = await fetch(`${url}${path}`, { method, headers, ...(method === "POST" && { body: JSON.stringify(body) }) });
    return { code: response.status, text: await response.text() };
  };
  const TEAMS = "/kubernetes/management/apis/management.platform/v1/teams";

  test("acknowledges nothing, is neither ready nor alive, and does not start again without them", async () => {
    const [data, keyFile] = [newPath("data"), newPath("key")];
    writeFileSync(keyFile, KEY);
    const server = await serve(argvOf(["--data", data, "--port", "0", "--http", "--admin-key-file", keyFile]), { ready: /curl/ });
    const [, url = ""] = /serves (http:\S+?)\/kubernetes/.exec(server.terminal.stdout) ?? [];
    expect((await api(url, "/livez")).code).toBe(200);
    const away = newPath("away");
    shell(data, `mkdir ${away}; mv ${DATABASE}* ${away}/`);
    const written = await api(url, TEAMS, "POST");
    expect([written.code, written.text]).toEqual([503, expect.stringContaining("removed, moved, replaced or changed")]);
    expect(written.text).not.toContain(data);
    const ready = await api(url, "/readyz");
    expect([ready.code, ready.text]).toEqual([503, "not ready: a file of the database was removed, moved, replaced or changed"]);
    expect((await api(url, "/livez")).code).toBe(503);
    expect(server.terminal.stderr).toContain(`${join(data, DATABASE)}\\" was removed or moved while it was open`);
    expect((await api(url, TEAMS)).code).toBe(200);
    await server.stop();
    expect((await refused(data)).stderr).toMatch(LOST);
    shell(data, `mv ${away}/* .`);
    await begin(data, "--port", "0");
  });
});

describe("platform-data", () => {
  const platformData = (...argv: readonly string[]) => run(["platform-data", ...argv, "--encryption-key-file", KEYS]);

  test.each(LOSSES)("takes no backup where the file %s, and says so when it checks", async (_what, lose) => {
    const data = await leaveData();
    await lose(data);
    const backup = newPath("backup");
    const before = looksOf(data);
    const [checked, taken] = [await platformData("check", "--data", data), await platformData("backup", backup, "--data", data)];
    expect([checked.code === 0, taken.code === 0]).toEqual([false, false]);
    for (const { stdout, stderr } of [checked, taken])
      expect(`${stdout}${stderr}`).toMatch(/management.db is missing|it is empty|it contains no data|writes are missing/);
    expect(looksOf(data)).toEqual(before);
    expect(() => readdirSync(backup)).toThrow(/ENOENT/);
  });
});

describeEtcd("a server on an etcd", () => {
  let etcd: Etcd;
  beforeAll(async () => void (etcd = await startEtcd()));
  afterAll(() => etcd.remove());
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const empty = (prefix: string) =>
    fetch(`${etcd.url}/v3/kv/deleterange`, {
      method: "POST",
      body: JSON.stringify({ key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) }),
    });
  const on = (prefix: string) => ["--etcd", etcd.url, "--etcd-prefix", prefix, "--public-url", "https://127.0.0.1:1"];

  test("that was emptied does not start where it has run, but for --accept-data-loss", async () => {
    const kubeconfig = newPath("kubeconfig");
    const first = await serve(argvOf(on("/lost/"), kubeconfig), READY);
    await first.stop();
    const again = await serve(argvOf(on("/lost/"), kubeconfig), READY);
    await again.stop();
    await empty("/lost/");
    const { code, stdout, stderr } = await run(argvOf(on("/lost/"), kubeconfig));
    expect([code === 0, stdout]).toEqual([false, ""]);
    expect(stderr).toContain(
      `there is no data in etcd below /lost/, but "${kubeconfig}.etcd" shows that a server has used ${etcd.url} below /lost/`,
    );
    const accepted = await serve(argvOf([...on("/lost/"), "--accept-data-loss"], kubeconfig), READY);
    expect(accepted.terminal.stdout).toContain("shown once");
  });

  test("that was emptied does not start under another spelling either, or as another one", async () => {
    const kubeconfig = newPath("kubeconfig");
    await (await serve(argvOf(on("/spelled/"), kubeconfig), READY)).stop();
    await empty("/spelled/");
    const others = [on("/spelled"), on("/other/"), ["--etcd", etcd.url.replace("127.0.0.1", "localhost"), ...on("/spelled/").slice(2)]];
    for (const where of others) {
      const { code, stdout, stderr } = await run(argvOf(where, kubeconfig));
      expect([code === 0, stdout]).toEqual([false, ""]);
      expect(stderr).toContain(`"${kubeconfig}.etcd" shows that a server has used ${etcd.url} below /spelled/`);
    }
  });
});

describeEtcd(
  "an etcd",
  () => {
    let etcd: Etcd;
    beforeAll(async () => void (etcd = await startEtcd()));
    afterAll(() => etcd.remove());
    const where = () => ["--etcd", etcd.url, "--etcd-prefix", "/restored/", "--public-url", "https://127.0.0.1:1"];

    test("that was restored while no server ran counts on from above what the last one has seen", async () => {
      const kubeconfig = newPath("kubeconfig");
      const seen = async () =>
        (JSON.parse(readFileSync(`${kubeconfig}.etcd`, "utf8")) as { seen: { revision: number; ahead: number } }).seen;
      const startAndStop = async () => {
        await (await serve(argvOf(where(), kubeconfig), READY)).stop();
        return seen();
      };
      await startAndStop();
      const file = etcd.save();
      const before = await startAndStop();
      expect(before.ahead).toBe(0);
      await etcd.restore(file);
      const floor = async () =>
        ((await etcd.ask("/v3/kv/range", { key: Buffer.from("/restored/floor").toString("base64") }))["kvs"] ?? []) as {
          mod_revision: string;
        }[];
      expect(await floor()).toEqual([]);
      expect((await startAndStop()).revision).toBeGreaterThan(before.revision);
      const [raised] = await floor();
      expect(Number(raised!.mod_revision)).toBeGreaterThan(before.revision);
      // A start on what goes on raises nothing.
      await startAndStop();
      expect(await floor()).toEqual([raised]);
    });
  },
  lacksRestore,
);
