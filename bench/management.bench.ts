/**
 * The management API over HTTP, from a client with one persistent connection, compared with a bare Node server that only returns the same
 * bytes for the same requests. The bare server shows the cost that cannot be avoided on this machine. The servers are in another process.
 *
 * Investigate if reading one object takes more than three times as long as a bare read, if the time of a list does not mostly depend on its
 * bytes, if checking a key costs more than a few microseconds or more with many keys, or if watches delay a write much longer than a bare
 * server needs to write the same lines.
 *
 * @module
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { join } from "node:path";
import { CustomObjectsApi, KubeConfig } from "@kubernetes/client-node";
import { OBJECTS, READ, type Servers } from "./management-server.ts";
import type { Group } from "./measure.ts";

export const question = "How much time does the management API add to a request?";

const API = "/apis/management.platform/v1/teams";
const TEAMS = { group: "management.platform", version: "v1", plural: "teams" };
const WATCHES = 100;
const ONE_KEY = "an administrator with one key";
const JSON_TYPE = "application/json";
const MERGE_TYPE = "application/merge-patch+json";

let child: ChildProcess | undefined;
const watches: IncomingMessage[] = [];
const agents: (Agent | HttpsAgent)[] = [];
let made = 0;

/** A server with a user's key. */
interface Side {
  readonly url: URL;
  readonly key: string;
  readonly agent: Agent | HttpsAgent;
  readonly ca: string | undefined;
}

interface Asked {
  readonly body?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function sideOf(kubeconfig: string): Side {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  const { server, caData } = config.getCurrentCluster()!;
  const ca = caData === undefined ? undefined : Buffer.from(caData, "base64").toString();
  return at(server, config.getCurrentUser()!.token!, ca);
}

function at(server: string, key: string, ca: string | undefined): Side {
  const url = new URL(server);
  const agent = url.protocol === "https:" ? new HttpsAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  agents.push(agent);
  return { url, key, agent, ca };
}

function open({ url, key, agent, ca }: Side, method: string, path: string, { body, type, headers }: Asked = {}): Promise<IncomingMessage> {
  const options: RequestOptions & { ca?: string } = {
    ...{ method, agent, host: url.hostname, port: url.port, path: `${url.pathname.replace(/\/$/, "")}${path}` },
    headers: { Authorization: `Bearer ${key}`, ...(body !== undefined && { "Content-Type": type ?? JSON_TYPE }), ...headers },
    ...(ca !== undefined && { ca }),
  };
  return new Promise((resolve, reject) => {
    const sent = url.protocol === "https:" ? httpsRequest(options, resolve) : httpRequest(options, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The bytes of an answer, which has to have this code. */
async function ask(side: Side, method: string, path: string, { code = 200, ...asked }: Asked & { readonly code?: number } = {}) {
  const answer = await open(side, method, path, asked);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (answer.statusCode !== code) throw new Error(`${method} ${path} is ${answer.statusCode}: ${bytes.toString()}`);
  return bytes;
}

/** Makes a bare server answer a request as the API has answered it. */
async function teach(bare: Side, request: string, bytes: Buffer): Promise<void> {
  const [method, path] = request.split(" ") as [string, string];
  const whole = method === "WATCH" ? request : `${method} ${bare.url.pathname.replace(/\/$/, "")}${path}`;
  await ask(bare, "PUT", "/taught", { body: bytes.toString(), headers: { "X-Answer-To": whole } });
}

interface Sides {
  readonly memory: Side;
  readonly sqlite: Side;
  readonly tls: Side;
  readonly bare: Side;
  readonly bareTls: Side;
}

interface Reading extends Pick<Group, "title" | "goals"> {
  readonly path: string;
  readonly read: (api: CustomObjectsApi) => Promise<unknown>;
}

/** Reads of the same bytes, also over TLS and by the most used client library, which parses them. */
async function readGroup(sides: Sides, { title, path, read, goals = [] }: Reading): Promise<Group> {
  const bytes = await ask(sides.memory, "GET", path);
  for (const bare of [sides.bare, sides.bareTls]) await teach(bare, `GET ${path}`, bytes);
  const [library, bareLibrary] = [libraryOf(sides.memory), libraryOf(sides.bare)];
  return {
    title,
    baseline: "bare node:http",
    goals,
    cases: [
      { name: "bare node:http", run: () => ask(sides.bare, "GET", path) },
      { name: "management", run: () => ask(sides.memory, "GET", path) },
      { name: "bare node:https", run: () => ask(sides.bareTls, "GET", path) },
      { name: "management, TLS", run: () => ask(sides.tls, "GET", path) },
      { name: "client-node, bare node:http", run: () => read(bareLibrary) },
      { name: "client-node, management", run: () => read(library) },
    ],
  };
}

function libraryOf({ url, key }: Side): CustomObjectsApi {
  const config = new KubeConfig();
  // It sends a key over plain HTTP only to a server that it need not authenticate.
  const clusters = [{ name: "it", server: url.href, skipTLSVerify: true }];
  const users = [{ name: "it", token: key }];
  config.loadFromOptions({ clusters, users, contexts: [{ name: "it", cluster: "it", user: "it" }], currentContext: "it" });
  return config.makeApiClient(CustomObjectsApi);
}

/** Writes by every kind of store. */
function writeGroup(sides: Sides, title: string, run: (side: Side) => Promise<unknown>): Group {
  return {
    title,
    baseline: "bare node:http",
    cases: [
      { name: "bare node:http", run: () => run(sides.bare) },
      { name: "management, memory", run: () => run(sides.memory) },
      { name: "management, SQLite", run: () => run(sides.sqlite) },
    ],
  };
}

function patch(side: Side): Promise<unknown> {
  const body = JSON.stringify({ metadata: { annotations: { turn: String((made += 1)) } } });
  return ask(side, "PATCH", `${API}/${READ}`, { body, type: MERGE_TYPE });
}

async function createAndDelete(side: Side): Promise<void> {
  const name = `made-${(made += 1)}`;
  // A server answers the same whatever the name; the bare one knows one.
  const body = JSON.stringify({ metadata: { name }, spec: { displayName: "Made", users: ["jane"] } });
  await ask(side, "POST", API, { body, code: side.url.pathname === BARE_PATH ? 200 : 201 });
  await ask(side, "DELETE", `${API}/${name}`);
}

const BARE_PATH = "/kubernetes/management-bare";

/** A patch that every watch has seen in the end. */
async function watchGroup(sides: Sides): Promise<Group> {
  const followed = async (side: Side) => {
    const seen = { lines: 0, wanted: 0, reached: () => {} };
    const list = await ask(side, "GET", `${API}?limit=1`);
    const { metadata = {} } = JSON.parse(list.toString()) as { metadata?: { resourceVersion?: string } };
    for (let index = 0; index < WATCHES; index++) {
      const answer = await open(
        { ...side, agent: new Agent() },
        "GET",
        `${API}?watch=true&resourceVersion=${metadata.resourceVersion ?? ""}`,
      );
      watches.push(answer);
      answer.on("error", () => {});
      answer.on("data", (chunk: Buffer) => {
        for (const byte of chunk) if (byte === 10) seen.lines += 1;
        if (seen.lines >= seen.wanted) seen.reached();
      });
    }
    return async () => {
      const all = new Promise<void>((resolve) => {
        seen.wanted = seen.lines + WATCHES;
        seen.reached = resolve;
      });
      await patch(side);
      await all;
    };
  };
  const object = JSON.parse((await ask(sides.memory, "GET", `${API}/${READ}`)).toString()) as object;
  await teach(sides.bare, "WATCH /", Buffer.from(`${JSON.stringify({ type: "MODIFIED", object })}\n`));
  // Not before they are wanted: the watches would be in the way of the other groups.
  const later = (side: Side) => {
    let patched: Promise<() => Promise<void>> | undefined;
    return async () => (await (patched ??= followed(side)))();
  };
  return {
    title: `one object patched, and seen by ${WATCHES} watches`,
    baseline: "bare node:http",
    cases: [
      { name: "bare node:http", run: later(sides.bare) },
      { name: "management", run: later(sides.memory) },
    ],
  };
}

/** Callers: the cost of a key, and of permissions. */
function keyGroup(memory: Side, { keys }: Servers): Group {
  const get = (key: string, code?: number) => ask({ ...memory, key }, "GET", `${API}/${READ}`, code === undefined ? {} : { code });
  const manyKeys = `an administrator with ${keys.many.length} keys in turn`;
  let turn = 0;
  return {
    title: "one object read, by caller",
    baseline: ONE_KEY,
    goals: [{ of: manyKeys, against: ONE_KEY, atMost: 1.5 }],
    cases: [
      { name: ONE_KEY, run: () => get(memory.key) },
      { name: manyKeys, run: () => get(keys.many[(turn = (turn + 1) % keys.many.length)]!) },
      { name: "an administrator with a scoped key", run: () => get(keys.scoped) },
      { name: `a member of one of ${OBJECTS} teams`, run: () => get(keys.user) },
      { name: "unknown key: 401", run: () => get("x".repeat(64), 401) },
    ],
  };
}

/** The groups, in reading order. */
export async function groups(): Promise<Group[]> {
  child = fork(join(import.meta.dirname, "management-server.ts"), { execArgv: ["--no-warnings"] });
  const [servers] = (await once(child, "message")) as [Servers];
  const [memory, sqlite, tls] = [sideOf(servers.memory), sideOf(servers.sqlite), sideOf(servers.tls)];
  const bare = at(`${servers.bare}${BARE_PATH}`, memory.key, undefined);
  const sides: Sides = { memory, sqlite, tls, bare, bareTls: at(`${servers.bareTls}${BARE_PATH}`, tls.key, tls.ca) };
  await teach(bare, `PATCH ${API}/${READ}`, await ask(memory, "GET", `${API}/${READ}`));
  await teach(bare, `POST ${API}`, await ask(memory, "GET", `${API}/${READ}`));
  return [
    await readGroup(sides, {
      title: "one object read",
      path: `${API}/${READ}`,
      read: (api) => api.getClusterCustomObject({ ...TEAMS, name: READ }),
      goals: [{ of: "management", against: "bare node:http", atMost: 3 }],
    }),
    await readGroup(sides, { title: `list of ${OBJECTS} objects`, path: API, read: (api) => api.listClusterCustomObject(TEAMS) }),
    keyGroup(memory, servers),
    writeGroup(sides, "one object patched", patch),
    writeGroup(sides, "one object created, then deleted", createAndDelete),
    await watchGroup(sides),
  ];
}

/** Ends watches, connections and servers. */
export async function stop(): Promise<void> {
  for (const watch of watches) watch.destroy();
  for (const agent of agents) agent.destroy();
  child?.disconnect();
}
