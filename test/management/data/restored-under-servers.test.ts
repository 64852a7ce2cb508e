/** A backup is restored into an emptied etcd beside running servers: they show nothing until it is complete, and then continue with it. */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { contentsOf } from "../../../src/management/data/contents.ts";
import { copyInto } from "../../../src/management/data/copy.ts";
import { demandServable } from "../../../src/management/data/copy-state.ts";
import { startManagement, type Management } from "../../../src/management/api/management.ts";
import { openEtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { describeEtcd, startEtcd, type Etcd } from "../../support/etcd.ts";
import { until } from "../../support/fake-clock.ts";
import { WAIT } from "../../support/patience.ts";
import { clientOf, names, type Client } from "../platform.ts";

const TEAMS = 200;
const TIMES = { heartbeatMs: 200 };

describeEtcd("servers whose etcd is emptied and filled by a restoration", () => {
  let etcd: Etcd;
  const servers: Management[] = [];
  let admins: Client[] = [];

  const start = async () => {
    const store = await openEtcdStore({ endpoints: [etcd.url], times: TIMES, admit: (found) => demandServable(found) });
    const server = await startManagement({ tls: false, store, sharing: {} });
    servers.push(server);
    return server;
  };
  /** Every kind of answer to a list that a server gives until `stop`. */
  const watchLists = (admin: Client) => {
    const [answers, state] = [new Set<string>(), { stopped: false }];
    const done = (async () => {
      while (!state.stopped) {
        const answer = await admin.send("GET", "/teams");
        answers.add(answer.code === 200 ? `${names(answer).length} teams` : String(answer.code));
      }
    })();
    const stop = async () => {
      state.stopped = true;
      await done;
      return [...answers];
    };
    return { answers, stop };
  };

  beforeAll(async () => {
    etcd = await startEtcd();
    const first = await start();
    await start();
    admins = servers.map(({ url }) => clientOf(url, first.adminKey!));
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    await etcd.remove();
  });

  test("never show a part of it, write nothing into it, and continue with all of it", async () => {
    const made = Array.from({ length: TEAMS }, (_, index) => ({ metadata: { name: `t${index}` }, spec: { users: ["jane"] } }));
    for (const team of made) expect((await admins[0]!.send("POST", "/teams", team)).code).toBe(201);
    const source = await openEtcdStore({ endpoints: [etcd.url] });
    const contents = await contentsOf(source);
    await source.close();
    const lists = admins.map(watchLists);
    await etcd.ask("/v3/kv/deleterange", { key: "AA==", range_end: "AA==" });
    await until("both have noticed that it is empty", () => lists.every(({ answers }) => answers.has("503")));
    const target = await openEtcdStore({ endpoints: [etcd.url] });
    // It would fail if another process wrote an object.
    await copyInto(target, contents, { purpose: "restore", place: "etcd" });
    await target.close();
    for (const admin of admins) await vi.waitFor(async () => expect((await admin.send("GET", "/teams")).code).toBe(200), WAIT);
    for (const { stop } of lists) expect((await stop()).sort()).toEqual([`${TEAMS} teams`, "503"]);
    expect((await admins[1]!.send("POST", "/teams", { metadata: { name: "new" }, spec: { users: ["jane"] } })).code).toBe(201);
    expect(names(await admins[0]!.send("GET", "/teams"))).toHaveLength(TEAMS + 1);
  });
});
