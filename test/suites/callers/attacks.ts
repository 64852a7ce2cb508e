/**
 * Repeated requests of a hostile caller of the management API. Runs in its own thread, so that making requests takes no time
 * from those who are timed.
 */
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

/** Input of an attack. */
export interface Target {
  readonly attack: string;
  readonly url: string;
  /** An access key without any permissions but its own. */
  readonly key: string;
}

const BASE = "/kubernetes/management";
const API = `${BASE}/apis/management.platform/v1`;
const SECRETS = `${API}/namespaces/default/sharedsecrets`;
const JSON_TYPE = "application/json";
const YAML_TYPE = "application/yaml";

const { attack, url, key } = (workerData ?? { attack: "", url: "http://none", key: "" }) as Target;
const { hostname, port } = new URL(url);
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
const sockets: Socket[] = [];
let acts = 0;
const codes: Record<string, number> = {};

/** One request, answered or not; nothing is thrown. */
function send(method: string, path: string, body?: string, type = JSON_TYPE): Promise<number> {
  return new Promise((done) => {
    const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": type }) };
    const sent = request({ agent, hostname, port, method, path, headers }, (response) => {
      response.resume().once("close", () => done(response.statusCode!));
    });
    sent.once("error", () => done(0)).end(body);
  });
}

async function act(work: Promise<number>): Promise<void> {
  const code = await work;
  acts += 1;
  codes[code] = (codes[code] ?? 0) + 1;
}

/** Some at a time, without an end. */
function flood(lanes: number, next: () => Promise<number>): void {
  const lane = async () => {
    for (;;) {
      await act(next());
      await new Promise((go) => setImmediate(go));
    }
  };
  for (let index = 0; index < lanes; index += 1) void lane();
}

function open(text: string, { reading = true } = {}): void {
  const socket = connect(Number(port), hostname, () => socket.write(text));
  socket.on("error", () => {});
  if (reading) socket.resume();
  else socket.pause();
  socket.once("close", () => setTimeout(() => open(text, { reading }), 500));
  sockets.push(socket);
  acts += 1;
}

const many = <Item>(count: number, of: (index: number) => Item) => Array.from({ length: count }, (_, index) => of(index));
const headersOf = (method: string, path: string, length = 0) =>
  `${method} ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${length}\r\n\r\n`;
const fields = (count: number) => Object.fromEntries(many(count, (index) => [`field-${index}`, 1]));
const secretOf = (spec: object, more: object = {}) =>
  JSON.stringify({ metadata: { generateName: "s-" }, spec: { owner: { user: "eve" }, ...spec }, ...more });

const ATTACKS: Readonly<Record<string, () => void>> = {
  "unknown fields of 2.5 MB": () => {
    const body = secretOf({}, fields(150_000));
    flood(4, () => send("POST", SECRETS, body));
  },
  "unknown fields, as many as there may be": () => {
    const body = secretOf({}, fields(9_900));
    flood(4, () => send("POST", SECRETS, body));
  },
  "data keys, as many as there may be": () => {
    const body = secretOf({ data: Object.fromEntries(many(9_900, (index) => [`k${index}`, "YQ=="])) });
    flood(4, () => send("POST", `${SECRETS}?dryRun=All`, body));
  },
  "slow bodies": () => many(300, () => open(`${headersOf("POST", SECRETS, 1_000)}{`)),
  "slow headers": () => many(500, () => open(`POST ${SECRETS} HTTP/1.1\r\nHost: ${hostname}\r\nX-A: `)),
  "slow readers": () => {
    const body = secretOf({ data: { big: Buffer.alloc(700_000).toString("base64") } });
    void Promise.all(many(5, () => act(send("POST", SECRETS, body)))).then(() =>
      many(60, () => open(headersOf("GET", SECRETS).repeat(4), { reading: false })),
    );
  },
  "20,000 access rules": () => {
    const body = secretOf({ access: many(20_000, (index) => ({ name: `r${index}`, verbs: ["get"], users: [`u${index}`] })) });
    flood(2, () => send("POST", SECRETS, body));
  },
  "access rules, as many as there may be": () => {
    const body = secretOf({ access: many(1_600, (index) => ({ name: `r${index}`, verbs: ["get"], users: [`u${index}`] })) });
    flood(2, () => send("POST", SECRETS, body));
  },
  "scope rules, as many as there may be": () => {
    const rules = many(700, (index) => ({ verbs: ["get"], resources: [{ group: "management.platform", resources: [`r${index}`] }] }));
    const body = JSON.stringify({ metadata: { generateName: "k-" }, spec: { user: "eve", scope: { rules } } });
    flood(2, () => send("POST", `${API}/ownedaccesskeys`, body));
  },
  "lists in YAML of 2.8 MB": () => {
    const body = `metadata: {generateName: s-}\nspec:\n  owner: {user: eve}\n  x:\n${"  - a\n".repeat(450_000)}`;
    flood(4, () => send("POST", SECRETS, body, YAML_TYPE));
  },
  "YAML, as much as there may be": () => {
    const body = `metadata: {generateName: s-}\nspec:\n  owner: {user: eve}\n  x:\n${"  - a\n".repeat(9_900)}`;
    flood(4, () => send("POST", SECRETS, body, YAML_TYPE));
  },
  "1,500 watches": () => {
    many(1_500, () => open(headersOf("GET", `${SECRETS}?watch=1`)));
    flood(1, () => send("POST", SECRETS, secretOf({ data: { a: "YQ==" } })));
  },
  "wrong passwords": () => flood(16, () => send("POST", "/auth/password/login", JSON.stringify({ username: "jane", password: "wrong" }))),
  "logins that begin": () => flood(16, () => send("GET", "/auth/oidc/login")),
};

if (parentPort !== null) {
  parentPort.on("message", () => parentPort!.postMessage({ acts, codes }));
  ATTACKS[attack]!();
}

/** The names of all attacks. */
export const NAMES = Object.keys(ATTACKS);
