/**
 * Random callers with random rights at three servers on one etcd, which are killed and stand still, beside a model of who may do what:
 *
 *   npm run test:management-chaos -- --minutes 30 [--seed 1] [--with REF] [--silent 30]
 *
 * `--with` starts an earlier version. With it, and from a minute on, a request that stays unanswered for `--silent` seconds at a server that
 * was left in peace is a failure. A failure prints what happened around the object or the caller, and the seed; the exit code is 1 then.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { delay, systemClock } from "../../src/base/clock.ts";
import { seedOf } from "../outside/cases.ts";
import { checkOut } from "../outside/earlier.ts";
import { ROOT } from "../outside/processes.ts";
import { ReplicaProcess } from "../replicas/replica-process.ts";
import { Troubles } from "../replicas/troubles.ts";
import { createSeededChance } from "../server/seeded-chance.ts";
import { followOverHttp } from "../server/support/http-follower.ts";
import { checkWatches } from "../server/support/watch-checker.ts";
import { etcdVersion, startEtcd } from "../support/etcd.ts";
import { ownPorts } from "../support/own-port.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { Model } from "./model.ts";
import type { Body, Rights, Secret, Verb, World } from "./model.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "2" },
    seed: { type: "string" },
    with: { type: "string" },
    silent: { type: "string", default: "30" },
  },
});
const root = values.with === undefined ? ROOT : checkOut(values.with);
if (etcdVersion === undefined || root === undefined) {
  console.log(`skipped: there is no ${etcdVersion === undefined ? "etcd here" : `${values.with} in this clone`}`);
  process.exit();
}
const seed = seedOf(values.seed);
const judgesSilence = values.with !== undefined || Number(values.minutes) >= 1;
const silentMs = 1_000 * Number(values.silent);
console.log(`etcd ${etcdVersion}, seed ${seed}, ${values.minutes} minutes`);

const API = "/kubernetes/management/apis/management.platform/v1";
const ADMIN_KEY = "administrator-0123456789abcdefghijklmn";
const USERS = ["u0", "u1", "u2", "u3", "u4", "u5"];
const TEAMS = ["t0", "t1", "t2"];
const NAMESPACES = ["a", "b"];
const VERBS: readonly Verb[] = ["get", "list", "update", "patch", "delete", "create"];
const SECRETS = 6;
const FRESH_MAX = 30;
const LANES = 8;
const CHANGE_MS = 100;
/** Answers that leave it open whether something has happened. */
const DOUBTFUL: ReadonlySet<number> = new Set([0, 500, 504]);
/** Answers that say nothing of rights. */
const EXCUSED: ReadonlySet<number> = new Set([0, 429, 503, 504]);

const fraction = () => chance.fraction();
const chance = createSeededChance(seed);
const upTo = (limit: number) => Math.floor(fraction() * limit);
const pick = <T>(all: readonly T[]): T => all[upTo(all.length)]!;
const some = <T>(all: readonly T[]): T[] => all.filter(() => fraction() < 0.3);

/** A server that knows since when it was left in peace. */
class Replica extends ReplicaProcess {
  #troubled = false;
  #peaceFrom = 0;

  override async kill(): Promise<void> {
    this.disturb();
    await super.kill();
  }

  override pause(): void {
    this.disturb();
    super.pause();
  }

  override async ready(): Promise<void> {
    await super.ready();
    this.#troubled = false;
    this.#peaceFrom = performance.now();
  }

  disturb(): void {
    this.#troubled = true;
  }

  inPeaceSince(from: number): boolean {
    return !this.#troubled && this.#peaceFrom < from;
  }
}

interface Answer {
  readonly code: number;
  readonly text: string;
}

interface Asked {
  readonly key: string;
  readonly who: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  /** What it does to others is judged, and not how long it takes itself. */
  readonly hostile?: boolean;
}

const folder = mkdtempSync(join(tmpdir(), "management-chaos-"));
const etcd = await startEtcd();
const given = { etcd: etcd.url, folder, adminKey: ADMIN_KEY, encryptionKey: Buffer.alloc(32, 7).toString("base64"), root };
const replicas = (await ownPorts(3)).map((port) => new Replica({ ...given, port }));
const counts = new Map<string, number>();
const acknowledged: { type: "created" | "updated"; key: string; revision: number; text: string; previous: number }[] = [];
/** Revisions of acknowledged patches: each watch has to tell of them. */
const patches: { key: string; revision: number }[] = [];
let names = 0;
let tokens = 0;

const keyNames: Record<string, string> = {};
const oldKeys: { key: string; user: string }[] = [];
const newKey = (user: string) => `key-of-${user}-${(names += 1)}-0123456789abcdefghijklmn`;

const randomRights = (): Rights => ({
  owner: upTo(2) === 0 ? { user: pick(USERS) } : { team: pick(TEAMS) },
  access: Array.from({ length: upTo(3) }, () => ({ verbs: [pick(VERBS), ...some(VERBS)], users: some(USERS), teams: some(TEAMS) })).map(
    (rule) => ({ ...rule, verbs: [...new Set(rule.verbs)] }),
  ),
});

const firstKeys = Object.fromEntries(USERS.map((user) => [newKey(user), user]));
const firstRights = Object.fromEntries(
  NAMESPACES.flatMap((namespace) => Array.from({ length: SECRETS }, (_, index) => [`${namespace}/s${index}`, randomRights()])),
) as Record<string, Rights>;
const model = new Model({ keys: firstKeys, teams: Object.fromEntries(TEAMS.map((team) => [team, some(USERS)])), rights: firstRights });

async function ask({ key, who, method, path, body, hostile = false }: Asked): Promise<Answer> {
  const replica = pick(replicas);
  const from = performance.now();
  const signal = AbortSignal.timeout(silentMs);
  let answer: Answer;
  try {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": type }) };
    const response = await fetch(`${replica.url}${API}${path}`, { method, headers, signal, ...(body && { body: JSON.stringify(body) }) });
    answer = { code: response.status, text: await response.text() };
  } catch {
    answer = { code: 0, text: "" };
  }
  const answered = model.tick();
  const what = `${method} ${path}${hostile ? " (300 KB)" : ""}`;
  model.note(`${who} ${what} at ${replicas.indexOf(replica)}: ${answer.code}${answer.code >= 400 ? ` ${messageOf(answer)}` : ""}`);
  counts.set(`${method} ${answer.code}`, (counts.get(`${method} ${answer.code}`) ?? 0) + 1);
  if (judgesSilence && !hostile && answer.code === 0 && signal.aborted && replica.inPeaceSince(from))
    model.fail(who, `${what} had no answer within ${values.silent} s (${answered})`);
  if (answer.code === 500) model.fail(who, `${what}: ${answer.text}`);
  return answer;
}

const messageOf = ({ text }: Answer) => /"message":"([^"]{0,160})/.exec(text)?.[1] ?? "";

/** Sends a change until it is answered for sure: each of them may be sent twice. */
async function insist(asked: Omit<Asked, "key" | "who">): Promise<Answer> {
  for (;;) {
    const answer = await ask({ ...asked, key: ADMIN_KEY, who: "admin" });
    if (answer.code < 300 && answer.code !== 0) return answer;
    if (asked.method === "POST" && answer.code === 409) return answer;
    if (asked.method === "DELETE" && answer.code === 404) return answer;
    if (!EXCUSED.has(answer.code) && answer.code !== 409)
      model.fail("admin", `${asked.method} ${asked.path}: ${answer.code} ${answer.text}`);
    await delay(systemClock, CHANGE_MS);
  }
}

const makeKey = (user: string, key: string) => {
  keyNames[user] = `key-${user}-${(names += 1)}`;
  return insist({ method: "POST", path: "/ownedaccesskeys", body: { metadata: { name: keyNames[user] }, spec: { user, key } } });
};
const pathOf = ({ namespace, name }: Secret) => `/namespaces/${namespace}/sharedsecrets/${name}`;

async function begin(): Promise<void> {
  for (const [team, users] of Object.entries(model.world.teams))
    await insist({ method: "POST", path: "/teams", body: { metadata: { name: team }, spec: { users } } });
  for (const [key, user] of Object.entries(firstKeys)) await makeKey(user, key);
  for (const [key, rights] of Object.entries(firstRights)) {
    const [namespace, name] = key.split("/") as [string, string];
    const secret = model.expect(namespace, name);
    const data = { first: model.value(secret, (tokens += 1)) };
    const path = `/namespaces/${namespace}/sharedsecrets`;
    const { text } = await insist({ method: "POST", path, body: { metadata: { name }, spec: { ...rights, data } } });
    model.show(secret, JSON.parse(text) as Body, model.floor(secret));
    secret.bornAt = model.tick();
  }
}

/** One change of rights. */
async function changeRights(): Promise<void> {
  const { world } = model;
  const what = upTo(8);
  if (what < 3) {
    const team = pick(TEAMS);
    const users = some(USERS);
    const next = { ...world, teams: { ...world.teams, [team]: users } };
    return model.change(next, async () => void (await insist({ method: "PATCH", path: `/teams/${team}`, body: { spec: { users } } })));
  }
  if (what < 6) {
    const secret = model.secrets.get(pick(Object.keys(firstRights)))!;
    const rights = randomRights();
    const owner = { user: null, team: null, ...rights.owner };
    return model.change({ ...world, rights: { ...world.rights, [secret.key]: rights } }, async () => {
      const floor = model.floor(secret);
      const { text } = await insist({ method: "PATCH", path: pathOf(secret), body: { spec: { ...rights, owner } } });
      model.show(secret, JSON.parse(text) as Body, floor);
    });
  }
  await changeKey(world, pick(USERS));
}

async function changeKey(world: World, user: string): Promise<void> {
  const path = `/ownedaccesskeys/${keyNames[user]}`;
  const others = Object.fromEntries(Object.entries(world.keys).filter(([, of]) => of !== user));
  const old = Object.keys(world.keys).find((key) => world.keys[key] === user)!;
  const key = newKey(user);
  const way = upTo(3);
  if (way === 0) {
    await model.change({ ...world, keys: { ...others, [key]: user } }, async () => {
      await insist({ method: "PATCH", path, body: { spec: { key } } });
    });
  } else {
    await model.change({ ...world, keys: others }, async () => {
      await insist(way === 1 ? { method: "DELETE", path } : { method: "PATCH", path, body: { spec: { disabled: true } } });
    });
    await delay(systemClock, CHANGE_MS);
    await model.change({ ...world, keys: { ...others, [key]: user } }, async () => void (await makeKey(user, key)));
  }
  oldKeys.push({ key: old, user });
}

/** One request of somebody. */
async function call(lane: number): Promise<void> {
  const good = Object.entries(model.world.keys).map(([key, user]) => ({ key, user }));
  const { key, user } = oldKeys.length > 0 && upTo(10) === 0 ? pick(oldKeys.slice(-20)) : pick(good);
  const secret = pick([...model.secrets.values()].filter(({ goneAt }) => goneAt === Infinity || upTo(10) === 0));
  const what = upTo(100);
  const caller = { key, who: `${user}#${lane}` };
  if (what < 30) return judgeOne({ caller, user, secret, verb: "get" });
  if (what < 50) return list({ caller, user, namespace: pick(NAMESPACES) });
  if (what < 68) return judgeOne({ caller, user, secret, verb: "update" });
  if (what < 86) return judgeOne({ caller, user, secret, verb: "patch" });
  if (what < 92 && secret.fixed !== undefined) return judgeOne({ caller, user, secret, verb: "delete" });
  const fresh = [...model.secrets.values()].filter(({ fixed, goneAt }) => fixed && goneAt === Infinity);
  if (fresh.length < FRESH_MAX) await create({ caller, user, namespace: pick(NAMESPACES), hostile: upTo(8) === 0 });
}

interface Call {
  readonly caller: { readonly key: string; readonly who: string };
  readonly user: string;
}

/** What any answer has to keep to: whether the key is good, and no word of what is another one's. Answers whether rights are to be judged. */
function judgeCaller({ caller, user }: Call, sent: number, { code, text }: Answer): boolean {
  const good = model.since(sent, ({ keys }) => keys[caller.key] === user);
  if (code === 401 && good.surely) model.fail(caller.who, `the good key ${caller.key} is refused`);
  if (code !== 401 && !EXCUSED.has(code) && !good.possibly) model.fail(caller.who, `the key ${caller.key}, which is no more, gets ${code}`);
  if (text.includes("-0123456789abcdefghijklmn")) model.fail(caller.who, `an answer has the value of a key: ${text.slice(0, 500)}`);
  for (const secret of model.secrets.values()) {
    if (!text.includes(secret.marker)) continue;
    const sees = model.since(sent, (world) => VERBS.some((verb) => verb !== "create" && model.may(world, user, { verb, secret })));
    if (!sees.possibly) model.fail(secret.key, `${caller.who} is shown its data`);
  }
  return good.surely && code !== 401 && !EXCUSED.has(code);
}

async function judgeOne({ caller, user, secret, verb }: Call & { readonly secret: Secret; readonly verb: Verb }): Promise<void> {
  const [floor, base, sent, count] = [model.floor(secret), secret.last, model.tick(), (tokens += 1)];
  if (base === undefined && verb === "update") return;
  if (verb === "delete") secret.deleting += 1;
  const [method, body] = requestOf(verb, { secret, base, count, author: caller.who });
  const answer = await ask({ ...caller, method, path: pathOf(secret), ...(body && { body }) });
  const { code, text } = answer;
  if (verb === "delete" && !DOUBTFUL.has(code) && code !== 202) secret.deleting -= 1;
  const judged = judgeCaller({ caller, user }, sent, answer);
  const there = model.there(secret, sent);
  const may = model.since(sent, (world) => model.may(world, user, { verb, secret }));
  const told = `${caller.who} ${verb}: ${code}`;
  if (code === 200) {
    if (!may.possibly) model.fail(secret.key, `${told}, and may not`);
    if (!there.possibly) model.fail(secret.key, `${told}, and it is gone`);
    if (verb === "delete") secret.goneAt = model.tick();
    else noteVersion({ secret, verb, base, count, author: caller.who }, JSON.parse(text) as Body, floor);
  } else if (code === 403 || code === 404) {
    // Whoever sends back rules that have changed meanwhile asks for other rights.
    const current = secret.fixed ?? model.world.rights[secret.key]!;
    const same = verb !== "update" || (sameRights(base!.spec, current) && model.since(sent, ({ rights }) => rights[secret.key] === model.world.rights[secret.key]).surely); // prettier-ignore
    if (judged && may.surely && there.surely && same) model.fail(secret.key, `${told}, and may: ${messageOf(answer)}`);
  } else if (judged && !(code === 409 && verb !== "get") && code !== 500) model.fail(secret.key, `${told} ${text.slice(0, 300)}`);
}

const sameRights = ({ owner, access }: Rights, current: Rights) =>
  JSON.stringify([owner.user, owner.team, access]) === JSON.stringify([current.owner.user, current.owner.team, current.access]);

interface Written {
  readonly secret: Secret;
  readonly base: Body | undefined;
  readonly count: number;
  readonly author: string;
}

function requestOf(verb: Verb, { secret, base, count, author }: Written): [string, object?] {
  const data = { [authorOf(author)]: model.value(secret, count) };
  const displayName = `${author}-${count}`;
  if (verb === "get") return ["GET"];
  if (verb === "delete") return ["DELETE"];
  if (verb === "patch") return ["PATCH", { spec: { data, displayName } }];
  const { metadata, spec } = base!;
  const { name, resourceVersion } = metadata;
  return ["PUT", { metadata: { name, resourceVersion }, spec: { ...spec, displayName, data: { ...spec.data, ...data } } }];
}

/** A lane sends one request at a time, so that its values only grow. */
const authorOf = (who: string) => `lane-${who.split("#")[1]}`;

function noteVersion({ secret, verb, base, count, author }: Written & { verb: Verb }, body: Body, floor: ReturnType<Model["floor"]>): void {
  const [key, revision, text] = [secret.key, Number(body.metadata.resourceVersion), `${author}-${count}`];
  model.show(secret, body, floor);
  if (verb === "get") return;
  if (body.spec.displayName !== text) model.fail(key, `${text} is acknowledged as ${body.spec.displayName}`);
  secret.patched.set(authorOf(author), count);
  if (verb === "patch") return void patches.push({ key, revision });
  const previous = Number(base!.metadata.resourceVersion);
  model.updated(secret, previous, revision);
  acknowledged.push({ type: "updated", key, revision, text, previous });
}

async function list({ caller, user, namespace }: Call & { readonly namespace: string }): Promise<void> {
  const all = [...model.secrets.values()].filter((secret) => secret.namespace === namespace);
  const floors = new Map(all.map((secret) => [secret.key, model.floor(secret)]));
  const sent = model.tick();
  const answer = await ask({ ...caller, method: "GET", path: `/namespaces/${namespace}/sharedsecrets` });
  const judged = judgeCaller({ caller, user }, sent, answer);
  const items = answer.code === 200 ? (JSON.parse(answer.text) as { items: Body[] }).items : [];
  const listed = new Set(items.map(({ metadata }) => metadata.name));
  for (const secret of model.secrets.values()) {
    if (secret.namespace !== namespace) continue;
    const sees = model.since(sent, (world) => model.may(world, user, { verb: "list", secret }));
    const there = model.there(secret, sent);
    if (listed.has(secret.name) && !sees.possibly) model.fail(secret.key, `${caller.who} lists it, and may not`);
    if (listed.has(secret.name) && !there.possibly) model.fail(secret.key, `${caller.who} lists it, and it is gone`);
    if (judged && !listed.has(secret.name) && sees.surely && there.surely) model.fail(secret.key, `${caller.who} does not list it`);
  }
  for (const item of items) {
    const secret = model.secrets.get(`${namespace}/${item.metadata.name}`);
    if (secret === undefined) model.fail(caller.who, `lists ${item.metadata.name}, which nobody made`);
    else model.show(secret, item, floors.get(secret.key) ?? { newest: 0, patched: new Map() });
  }
}

async function create({ caller, user, namespace, hostile }: Call & { readonly namespace: string; readonly hostile: boolean }) {
  const others = [...model.secrets.values()].filter((secret) => secret.namespace === namespace && secret.fixed === undefined);
  const secret = model.expect(namespace, `n${(names += 1)}`, { owner: { user }, access: [] });
  const [sent, count] = [model.tick(), (tokens += 1)];
  const displayName = `${caller.who}-${count}`;
  const unknown = hostile ? Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`unknown${index}`, 0])) : {};
  const spec = { owner: { user }, displayName, data: { first: model.value(secret, count) } };
  const body = { metadata: { name: secret.name }, spec, ...unknown };
  const query = hostile && upTo(2) === 0 ? "?fieldValidation=Strict" : "";
  const answer = await ask({ ...caller, method: "POST", path: `/namespaces/${namespace}/sharedsecrets${query}`, body, hostile });
  const judged = judgeCaller({ caller, user }, sent, answer);
  const may = model.since(sent, (world) => others.some((other) => model.may(world, user, { verb: "create", secret: other })));
  if (answer.code === 201) {
    if (!may.possibly) model.fail(secret.key, `${caller.who} creates it, and may not`);
    const made = JSON.parse(answer.text) as Body;
    model.show(secret, made, { newest: 0, patched: new Map() });
    secret.bornAt = model.tick();
    acknowledged.push({
      type: "created",
      key: secret.key,
      revision: Number(made.metadata.resourceVersion),
      text: displayName,
      previous: 0,
    });
    return;
  }
  if (judged && may.surely && answer.code === 403) model.fail(secret.key, `${caller.who} may create it: ${messageOf(answer)}`);
  if (!DOUBTFUL.has(answer.code)) secret.goneAt = sent;
}

try {
  for (const replica of replicas) await replica.start();
  for (const replica of replicas) await replica.ready();
  const urls = replicas.map(({ url }) => `${url}${API}/sharedsecrets`);
  const followers = urls.map((_, at) =>
    followOverHttp({ name: `watch ${at}`, collections: [...urls.slice(at), ...urls.slice(0, at)], key: ADMIN_KEY, timeoutSeconds: 8 }),
  );
  while (followers.some((follower) => follower.position() < 0)) await delay(systemClock, CHANGE_MS);
  await begin();
  const until = performance.now() + 60_000 * Number(values.minutes);
  const going = () => performance.now() < until && model.problems.length === 0;
  const disturb = () => replicas.forEach((replica) => replica.disturb());
  const kill = async () => {
    disturb();
    await etcd.kill();
  };
  const start = async () => {
    await etcd.start();
    await Promise.all(replicas.map((replica) => replica.ready()));
  };
  const troubles = new Troubles({ replicas, etcd: { kill, start }, upTo, cut: () => followers.forEach((follower) => follower.cut()) });
  const repeat = async (act: () => Promise<void>, pauseMs: number) => {
    while (going()) {
      await act();
      await delay(systemClock, pauseMs);
    }
  };
  await Promise.all([repeat(changeRights, CHANGE_MS), ...Array.from({ length: LANES }, (_, lane) => repeat(() => call(lane), 5))]);
  await troubles.stop();
  const { text } = await insist({ method: "PATCH", path: "/namespaces/a/sharedsecrets/s0", body: { spec: { displayName: "end" } } });
  const end = Number((JSON.parse(text) as Body).metadata.resourceVersion);
  const deadline = performance.now() + PATIENCE_MS;
  while (followers.some((follower) => follower.position() < end) && performance.now() < deadline) await delay(systemClock, CHANGE_MS);
  for (const follower of followers) await follower.stop();
  // Patches, changes of rights and deletions do not tell the state that they met: no watch may lack one that another one told of.
  model.problems.push(...checkWatches({ acknowledged, watches: followers.map(({ record }) => record), end, doubtful: Infinity }));
  const heard = new Set(
    followers.flatMap(({ record }) => record.steps.flatMap((step) => (step.did === "hear" ? [step.change.revision] : []))),
  );
  for (const { key, revision } of patches) if (!heard.has(revision)) model.fail(key, `no watch told of the patch ${revision}`);
  console.log(
    `${[...counts.values()].reduce((sum, count) => sum + count, 0)} requests, ${acknowledged.length + patches.length} acknowledged writes`,
  );
  for (const [name, count] of Object.entries(troubles.counts)) console.log(`${name}: ${Math.round(count)}`);
} finally {
  for (const replica of replicas) await replica.kill();
  await etcd.remove();
  rmSync(folder, { recursive: true });
}
for (const [name, count] of [...counts].sort()) console.log(`${String(count).padStart(8)}  ${name}`);
for (const problem of model.problems.slice(0, 10)) console.log(`BROKEN: ${problem}`);
console.log(`${model.problems.length} problems with seed ${seed}`);
process.exitCode = model.problems.length === 0 ? 0 : 1;
process.exit();
