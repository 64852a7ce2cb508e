/**
 * An administrator, a user and a probe beside each hostile caller of the management API, from outside: the server is a process, the
 * attacker a thread of its own.
 *
 *   npm run test:callers -- [--only TEXT] [--seconds 10] [--count-only]
 *
 * Each attack has a server of its own, and two periods: quiet, and beside the attacker. The exit code is 1 when the p99 of a victim is
 * more than 100 ms above the quiet one, when a probe takes longer than 100 ms, or when a victim is refused. With `--count-only` no time
 * is judged.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { hold, runCases } from "../outside/cases.ts";
import { Command, temporaryFolder, until } from "../outside/processes.ts";
import { ownPorts } from "../../support/own-port.ts";
import { NAMES, type Target } from "./attacks.ts";

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, seconds: { type: "string" }, "count-only": { type: "boolean", default: false } },
});
const countOnly = values["count-only"];
const periodMs = 1_000 * Number(values.seconds ?? (countOnly ? 2 : 10));

/** More than the quiet p99, and the slowest probe, in milliseconds. */
const LATER_MAX_MS = 100;
const PROBE_MAX_MS = 100;
const PROBE_EVERY_MS = 20;

const ADMIN_KEY = "administrator".repeat(5);
const API = "/kubernetes/management/apis/management.platform/v1";
const SECRETS = `${API}/namespaces/default/sharedsecrets`;

/** A provider of OpenID Connect that says where it is, and nothing more. */
async function startProvider() {
  const server = createServer((_, response) => {
    const endpoints = Object.fromEntries(
      ["authorization_endpoint", "token_endpoint", "jwks_uri"].map((name) => [name, `${issuer}/${name}`]),
    );
    const answer = { issuer, ...endpoints, response_types_supported: ["code"], subject_types_supported: ["public"] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...answer, id_token_signing_alg_values_supported: ["RS256"] }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { issuer, close: () => server.close() };
}

interface Answer {
  readonly code: number;
  readonly json: { readonly metadata: { readonly name: string }; readonly spec: { readonly key: string } };
}

async function send(url: string, key: string, [method, path, body]: readonly [string, string, (object | undefined)?]): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { code: response.status, json: (await response.json()) as Answer["json"] };
}

/** Times of a victim's requests, in milliseconds, and what was answered otherwise than with a success. */
interface Period {
  readonly times: Readonly<Record<"administrator" | "user" | "probe", number[]>>;
  readonly refused: string[];
}

class Ground {
  readonly #server: Command;
  readonly #url: string;
  readonly #end: () => void;
  #user = "";

  constructor(server: Command, { url, end }: { url: string; end: () => void }) {
    this.#server = server;
    this.#url = url;
    this.#end = end;
  }

  static async start(): Promise<Ground> {
    const folder = temporaryFolder();
    const provider = await startProvider();
    const [port] = await ownPorts(1);
    writeFileSync(join(folder, "admin.key"), ADMIN_KEY);
    const oidc = `auth: {oidc: {issuerUrl: "${provider.issuer}", clientId: platform, clientSecret: secret}}\n`;
    writeFileSync(join(folder, "platform.yaml"), oidc);
    const options = ["--memory", "--http", "--port", String(port), "--admin-key-file", "admin.key", "--config", "platform.yaml"];
    const server = new Command(["management", ...options], { folder });
    if (!(await server.said("Access key of the administrator"))) throw new Error(server.output);
    const ground = new Ground(server, { url: `http://127.0.0.1:${port}`, end: provider.close });
    ground.#user = await ground.#keyOf("mia");
    // By which both may make others.
    const access = [{ name: "makers", verbs: ["create"], users: ["mia", "eve"] }];
    const first = await send(ground.#url, ADMIN_KEY, ["POST", SECRETS, { metadata: { name: "first" }, spec: { access } }]);
    hold(first.code === 201, `the first object is answered ${first.code}`);
    return ground;
  }

  async #keyOf(user: string): Promise<string> {
    const body = { metadata: { generateName: `${user}-` }, spec: { user } };
    const { code, json } = await send(this.#url, ADMIN_KEY, ["POST", `${API}/ownedaccesskeys`, body]);
    hold(code === 201, `a key for ${user} is answered ${code}`);
    return json.spec.key;
  }

  /** The victims alone, or beside an attacker. */
  async period(attack?: string): Promise<Period & { readonly told: string }> {
    const attacker = attack === undefined ? undefined : this.#attack({ attack, url: this.#url, key: await this.#keyOf("eve") });
    const times = { administrator: [] as number[], user: [] as number[], probe: [] as number[] };
    const refused: string[] = [];
    await attacker?.begun();
    const until = performance.now() + periodMs;
    const loop = async (work: () => Promise<void>) => {
      while (performance.now() < until) await work();
    };
    const timed = async (kind: keyof typeof times, work: () => Promise<number>) => {
      const from = performance.now();
      const code = await work();
      times[kind].push(performance.now() - from);
      if (code >= 400) refused.push(`${kind} ${code}`);
    };
    const life = (kind: "administrator" | "user", key: string) => async () => {
      let name = "";
      const ask = (method: string, path: string, body?: object) =>
        timed(kind, async () => {
          const { code, json } = await send(this.#url, key, [method, path, body]);
          if (method === "POST") name = json.metadata.name;
          return code;
        });
      await ask("POST", SECRETS, {
        metadata: { generateName: "v-" },
        spec: { owner: { user: kind === "user" ? "mia" : "admin" }, data: { a: "YQ==" } },
      });
      await ask("GET", `${SECRETS}/${name}`);
      await ask("GET", `${API}/ownedaccesskeys?limit=5`);
      await ask("DELETE", `${SECRETS}/${name}`);
    };
    const probe = async () => {
      await timed("probe", async () => (await fetch(`${this.#url}/livez`)).status);
      await new Promise((go) => setTimeout(go, PROBE_EVERY_MS));
    };
    await Promise.all([loop(life("administrator", ADMIN_KEY)), loop(life("user", this.#user)), loop(probe)]);
    const told = (await attacker?.end()) ?? "";
    return { times, refused, told };
  }

  #attack(target: Target) {
    const worker = new Worker(new URL("./attacks.ts", import.meta.url), { workerData: target });
    const counts = () =>
      new Promise<{ acts: number; codes: object }>((done) => {
        worker.once("message", done);
        worker.postMessage("");
      });
    return {
      begun: () => until("the attacker has begun", async () => (await counts()).acts > 0),
      async end() {
        const { acts, codes } = await counts();
        await worker.terminate();
        return `${acts} acts ${JSON.stringify(codes)}`;
      },
    };
  }

  async close(): Promise<void> {
    this.#end();
    await this.#server.kill();
  }
}

function percentile(times: readonly number[], share: number): number {
  return [...times].sort((left, right) => left - right)[Math.floor((times.length - 1) * share)] ?? 0;
}

async function play(attack: string): Promise<string> {
  const ground = await Ground.start();
  try {
    // The first requests are slow in any case.
    if (!countOnly) await ground.period();
    const quiet = countOnly ? undefined : await ground.period();
    const beside = await ground.period(attack);
    const wrong = beside.refused.length === 0 ? [] : [`refused: ${[...new Set(beside.refused)].join(", ")}`];
    const told = [beside.told];
    for (const kind of ["administrator", "user", "probe"] as const) {
      const [before, now] = [percentile(quiet?.times[kind] ?? [], 0.99), percentile(beside.times[kind], kind === "probe" ? 1 : 0.99)];
      told.push(`${kind}: ${beside.times[kind].length}${countOnly ? "" : `, ${before.toFixed(0)} -> ${now.toFixed(0)} ms`}`);
      const most = kind === "probe" ? PROBE_MAX_MS : before + LATER_MAX_MS;
      if (!countOnly && now > most) wrong.push(`${kind}: ${now.toFixed(0)} ms`);
    }
    hold(wrong.length === 0, [...wrong, ...told].join("; "));
    return told.join("; ");
  } finally {
    await ground.close();
  }
}

const cases = NAMES.filter((name) => name.includes(values.only)).map((name) => ({ name, run: () => play(name) }));
await runCases(cases, { lanes: 1 });
process.exit();
