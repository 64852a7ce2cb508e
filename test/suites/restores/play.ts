/**
 * Three management servers under load, whose etcd is put back to one of its backups again and again: older and newer ones, as the same cluster
 * and as another one, with writes of others meanwhile, or with the platform's own keys put forward.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemChance } from "../../../src/base/chance.ts";
import { delay, systemClock } from "../../../src/base/clock.ts";
import { createCipher, parseEncryptionKeys } from "../../../src/management/data/encryption.ts";
import { openEtcdStore } from "../../../src/apiserver/store/etcd/etcd-store.ts";
import { decodeWireText, encodeWire, prefixEnd } from "../../../src/apiserver/store/etcd/client/protocol.ts";
import { createSeededChance } from "../../apiserver/seeded-chance.ts";
import { startEtcd, type Etcd } from "../../support/etcd.ts";
import { ownPorts } from "../../support/own-port.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { namesIn, Server } from "./server.ts";

/** How often, and with what chance. */
export interface PlayOptions {
  readonly restores: number;
  readonly seed: number;
  /** Within how many seconds after etcd serves again each server must have noticed. */
  readonly within: number;
  readonly onProgress: (line: string) => void;
}

/** Events of a run. */
export interface Played {
  readonly restores: number;
  readonly created: number;
  /** Teams that were acknowledged and are not in what was put back, at most at one time. */
  readonly lost: number;
  readonly reads: number;
  readonly endedWatches: number;
  /** Until the last server had noticed, in seconds, at worst. */
  readonly slowest: number;
  /** Empty when every promise was kept. */
  readonly problems: readonly string[];
}

const ADMIN_KEY = "administrator-0123456789abcdefghijklmn";
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString("base64");
const PREFIX = "/endpoint-sync/";
const TEAMS = `${PREFIX}objects/management.platform/teams/`;
const SERVERS = 3;
const LOOK_MS = 20;
/** Changes of a backup before any server sees it. */
const MODES = ["nothing", "a few writes of others", "many writes of others", "all keys put forward", "writes by another server"] as const;
type Mode = (typeof MODES)[number];

type Ask = Etcd["ask"];

/** Plays it once. */
export async function play(options: PlayOptions): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), "restores-"));
  const etcd = await startEtcd();
  const ports = await ownPorts(SERVERS * 2);
  const servers = Array.from({ length: SERVERS }, (_, index) => {
    const given = { etcd: etcd.url, folder, adminKey: ADMIN_KEY, encryptionKey: ENCRYPTION_KEY };
    return new Server({ ...given, port: ports[index]!, metricsPort: ports[SERVERS + index]! });
  });
  try {
    for (const { process } of servers) await process.start();
    return await new Play(options, etcd, servers).run();
  } finally {
    for (const { process } of servers) await process.kill();
    await etcd.remove();
    rmSync(folder, { recursive: true });
  }
}

class Play {
  readonly #options: PlayOptions;
  readonly #etcd: Etcd;
  readonly #servers: readonly Server[];
  readonly #problems: string[] = [];
  readonly #backups: string[] = [];
  readonly #upTo: (limit: number) => number;
  #names = 0;
  #lost = 0;
  #slowest = 0;

  constructor(options: PlayOptions, etcd: Etcd, servers: readonly Server[]) {
    const chance = createSeededChance(options.seed);
    [this.#options, this.#etcd, this.#servers] = [options, etcd, servers];
    this.#upTo = (limit) => Math.floor(chance.fraction() * limit);
  }

  async run(): Promise<Played> {
    const { restores, onProgress } = this.#options;
    const revoked = await this.#newKey("revoked");
    await this.#any().ask("PATCH", "/ownedaccesskeys/revoked", { body: { spec: { disabled: true } } });
    this.#backups.push(this.#etcd.save());
    for (const server of this.#servers) server.work(() => this.#newName());
    for (let round = 1; round <= restores; round += 1) {
      await this.#restoreOnce(round, revoked);
      if (round % 10 === 0) onProgress(`${round} restores, ${this.#problems.length} problems`);
    }
    for (const server of this.#servers) await server.rest();
    await this.#demandWork();
    const created = this.#servers.flatMap((server) => server.created);
    for (const { name, code } of created) if (code === 409) this.#problems.push(`409 for ${name}, which had not been made`);
    return {
      restores,
      created: created.filter(({ code }) => code === 201).length,
      lost: this.#lost,
      reads: this.#sum((server) => server.reads),
      endedWatches: this.#sum(({ ends }) => ends.length),
      slowest: this.#slowest / 1_000,
      problems: this.#problems,
    };
  }

  #sum(of: (server: Server) => number): number {
    return this.#servers.reduce((sum, server) => sum + of(server), 0);
  }

  #any(): Server {
    return this.#servers[this.#upTo(SERVERS)]!;
  }

  #newName(): string {
    return `team-${(this.#names += 1)}`;
  }

  async #newKey(name: string): Promise<string> {
    const key = `key-of-${name}-0123456789abcdefghijklmn`;
    const { code } = await this.#any().ask("POST", "/ownedaccesskeys", { body: { metadata: { name }, spec: { user: "jane", key } } });
    if (code !== 201) this.#problems.push(`the key ${name} is not made: ${code}`);
    return key;
  }

  /** A backup, writes, and one of the backups put back under the servers. */
  async #restoreOnce(round: number, revoked: string): Promise<void> {
    this.#backups.push(this.#etcd.save());
    const lostKey = await this.#newKey(`lost-${round}`);
    // A server that has seen nothing of what gets lost has nothing to notice.
    for (const server of this.#servers) {
      const { code } = await server.ask("GET", "/teams", { key: lostKey });
      if (code !== 200) this.#problems.push(`${server.process.url} answers ${code} to a key that was just made`);
    }
    const [file, mode] = [this.#backups[this.#upTo(this.#backups.length)]!, MODES[this.#upTo(MODES.length)]!];
    const token = this.#upTo(2) === 0 ? "etcd-cluster" : `cluster-${round}`;
    const told = `restore ${round} (backup ${this.#backups.indexOf(file) + 1} of ${this.#backups.length}, ${mode}, ${token})`;
    const before = await Promise.all(this.#servers.map((server) => server.noticed()));
    let [present, stopped]: [ReadonlySet<string>, number] = [new Set(), 0];
    const change = async (ask: Ask, url: string) => {
      await this.#changed(mode, round, { ask, url });
      [present, stopped] = [new Set(await teamsIn(ask)), systemClock.monotonic()];
    };
    await this.#etcd.restore(file, { token, before: change });
    const from = systemClock.monotonic();
    // Whatever is after the one that was put back is of another past now, and may be put back all the same.
    const noticed = await Promise.all(this.#servers.map((server, index) => this.#noticedAt(server, before[index]!, { from, told })));
    const acknowledged = this.#servers.flatMap(({ created }) => created.filter(({ at, code }) => at < stopped && code === 201));
    const lost = new Set(acknowledged.map(({ name }) => name).filter((name) => !present.has(name)));
    this.#lost = Math.max(this.#lost, lost.size);
    await this.#demandSettled(told);
    await Promise.all(
      this.#servers.map((server, index) => this.#demandHonest(server, noticed[index]!, { told, lost, keys: [lostKey, revoked] })),
    );
    for (const server of this.#servers) server.seen = [];
  }

  async #changed(mode: Mode, round: number, { ask, url }: { readonly ask: Ask; readonly url: string }): Promise<void> {
    const elsewhere = async (count: number) => {
      for (let index = 0; index < count; index += 1) await ask("/v3/kv/put", { key: encodeWire(`/others/${index}`), value: "" });
    };
    if (mode === "a few writes of others") return elsewhere(1 + this.#upTo(20));
    if (mode === "many writes of others") return elsewhere(200 + this.#upTo(800));
    if (mode === "all keys put forward") {
      await elsewhere(this.#upTo(300));
      for (const { key, value } of await pairsIn(ask, PREFIX)) await ask("/v3/kv/put", { key, value });
    }
    if (mode !== "writes by another server") return;
    const cipher = createCipher({ keys: parseEncryptionKeys(ENCRYPTION_KEY), chance: systemChance });
    const store = await openEtcdStore({ endpoints: [url], cipher });
    const count = 1 + this.#upTo(300);
    for (let index = 0; index < count; index += 1) {
      const metadata = {
        name: `other-${round}-${index}`,
        uid: systemChance.uuid(),
        creationTimestamp: "2026-01-01T00:00:00Z",
        generation: 1,
      };
      const team = { apiVersion: "management.platform/v1", kind: "Team", metadata, spec: {} };
      await store.create(`/management.platform/teams/${metadata.name}`, team as never);
    }
    await store.close();
  }

  async #noticedAt(server: Server, before: number, { from, told }: { readonly from: number; readonly told: string }): Promise<number> {
    while ((await server.noticed()) <= before) {
      if (systemClock.monotonic() - from > PATIENCE_MS) throw new Error(`${told} is not noticed by ${server.process.url}`);
      await delay(systemClock, LOOK_MS);
    }
    const at = systemClock.monotonic();
    this.#slowest = Math.max(this.#slowest, at - from);
    if (at - from > this.#options.within * 1_000)
      this.#problems.push(`${told} is noticed after ${((at - from) / 1_000).toFixed(1)} s by ${server.process.url}`);
    return at;
  }

  /** Every server creates, and shows what all have created. */
  async #demandSettled(told: string): Promise<void> {
    const deadline = systemClock.monotonic() + PATIENCE_MS;
    for (const server of this.#servers) {
      let code = 0;
      while ((code = await server.create(this.#newName())) !== 201) {
        if (code === 409 || systemClock.monotonic() > deadline) throw new Error(`${told}: ${server.process.url} creates nothing: ${code}`);
        await delay(systemClock, LOOK_MS);
      }
    }
  }

  async #demandHonest(server: Server, noticed: number, { told, lost, keys }: Demanded): Promise<void> {
    for (const { at, names } of server.seen) {
      const gone = names.filter((name) => at > noticed && lost.has(name));
      if (gone.length > 0) this.#problems.push(`${told}: ${server.process.url} shows ${gone.join(" ")}, which is no more`);
    }
    for (const key of keys) {
      const { code } = await server.ask("GET", "/teams", { key });
      if (code !== 401) this.#problems.push(`${told}: ${server.process.url} answers ${code} to the key ${key}`);
      const written = await server.ask("POST", "/ownedaccesskeys", {
        key,
        body: { metadata: { generateName: "stolen-" }, spec: { user: "jane" } },
      });
      if (written.code !== 401) this.#problems.push(`${told}: ${server.process.url} lets the key ${key} write: ${written.code}`);
    }
    const ended = server.ends.filter((code) => code !== 410);
    server.ends.splice(0, server.ends.length, ...server.ends.filter((code) => code === 410));
    if (ended.length > 0) this.#problems.push(`${told}: watches at ${server.process.url} ended with ${ended.join(" ")}`);
  }

  /** In the end all show what etcd has, one does the background work, and each signs with keys that all publish. */
  async #demandWork(): Promise<void> {
    const inEtcd = (await teamsIn((path, body) => this.#etcd.ask(path, body))).sort().join(" ");
    for (const server of this.#servers) {
      const { body } = await server.ask("GET", "/teams");
      if (namesIn(body).sort().join(" ") !== inEtcd) this.#problems.push(`${server.process.url} does not show what is in etcd`);
      const made = await server.ask("POST", "/directclusterendpointtokens", { body: { spec: {} } });
      const { token = "" } = (made.body["status"] ?? {}) as { token?: string };
      const { kid = "none" } = JSON.parse(Buffer.from(token.split(".")[0]!, "base64url").toString() || "{}") as { kid?: string };
      for (const other of this.#servers) {
        const { body: keys } = await other.ask("GET", "/.well-known/jwks.json");
        if (!JSON.stringify(keys).includes(kid))
          this.#problems.push(`${other.process.url} does not publish the key ${kid} of ${server.process.url}`);
      }
    }
    const rules = { owner: { user: "jane" }, access: [{ verbs: ["get"], users: ["jane"] }] };
    await this.#any().ask("POST", "/namespaces/shop/sharedsecrets", {
      body: { metadata: { name: "last", namespace: "shop" }, spec: rules },
    });
    const deadline = systemClock.monotonic() + PATIENCE_MS;
    const roles = async () =>
      (await pairsIn((path, body) => this.#etcd.ask(path, body), `${PREFIX}objects/rbac.authorization.k8s.io/roles/shop/`)).length;
    while ((await roles()) === 0) {
      if (systemClock.monotonic() > deadline) return void this.#problems.push("no server does the background work");
      await delay(systemClock, 100);
    }
  }
}

interface Demanded {
  readonly told: string;
  readonly lost: ReadonlySet<string>;
  /** Keys that no server may accept. */
  readonly keys: readonly string[];
}

async function pairsIn(ask: Ask, prefix: string): Promise<{ readonly key: string; readonly value: string }[]> {
  const { kvs = [] } = (await ask("/v3/kv/range", { key: encodeWire(prefix), range_end: prefixEnd(prefix) })) as {
    kvs?: { key: string; value: string }[];
  };
  return kvs;
}

async function teamsIn(ask: Ask): Promise<string[]> {
  return (await pairsIn(ask, TEAMS)).map(({ key }) => decodeWireText(key).slice(TEAMS.length));
}
