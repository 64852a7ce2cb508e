/**
 * The servers of the management API's bench, in a separate process: the API in memory, on a SQLite file and over TLS, each with the same
 * objects, and a bare server that returns the bytes that it was given.
 *
 * @module
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemChance } from "../src/base/chance.ts";
import { systemClock } from "../src/base/clock.ts";
import { OWNED_ACCESS_KEYS, startManagement, TEAMS, type Management, type ManagementOptions } from "../src/management.ts";
import { createServerCertificate } from "../src/apiserver/access/certificates.ts";
import { openSqliteStore } from "../src/apiserver/store/sqlite/sqlite-store.ts";

/** Message to the bench once everything serves. */
export interface Servers {
  /** Kubeconfigs of administrators (YAML). */
  readonly memory: string;
  readonly sqlite: string;
  readonly tls: string;
  /** Addresses of the bare servers, without a path; the second one's certificate is that of `tls`. */
  readonly bare: string;
  readonly bareTls: string;
  /** On the server in memory. */
  readonly keys: Keys;
}

/** Access keys of others than administrators. */
export interface Keys {
  /** Reads one team, by a rule that names the user's team. */
  readonly user: string;
  /** An administrator's, limited to reading teams. */
  readonly scoped: string;
  readonly many: readonly string[];
}

/** Teams on each server. */
export const OBJECTS = 500;
const KEYS = 1_000;
const ADMINISTRATOR = { user: "admin", groups: ["platform:admins"] };
/** The team that {@link Keys.user} reads. */
export const READ = "team-7";

async function fill({ registry }: Management): Promise<void> {
  for (let index = 0; index < OBJECTS; index++) {
    const users = Array.from({ length: 5 }, (_, member) => `user-${index}-${member}`);
    const access = [{ verbs: ["get"], teams: [`team-${index}`] }];
    const metadata = { name: `team-${index}`, labels: { app: "bench", half: String(index % 2) } };
    await registry.create(TEAMS, "", { metadata, spec: { displayName: `Team ${index}`, users, access } });
  }
}

async function makeKeys({ registry }: Management): Promise<Keys> {
  const make = async (name: string, spec: object) => {
    const { spec: made } = await registry.create(OWNED_ACCESS_KEYS, "", { metadata: { name }, spec });
    return (made as { key: string }).key;
  };
  const many: string[] = [];
  for (let index = 0; index < KEYS; index++) many.push(await make(`many-${index}`, ADMINISTRATOR));
  const rules = [{ verbs: ["get"], resources: [{ group: "management.platform", resources: ["teams"] }] }];
  return { user: await make("user", { user: "user-7-0" }), scoped: await make("scoped", { ...ADMINISTRATOR, scope: { rules } }), many };
}

/** Answers by method and path with what was put there; a PATCH writes one line to every watch. */
function bareListener(): (request: IncomingMessage, response: ServerResponse) => void {
  const answers = new Map<string, Buffer>();
  const watching = new Set<ServerResponse>();
  return (request, response) => {
    const { method, url = "/", headers } = request;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (headers["x-answer-to"] !== undefined) answers.set(String(headers["x-answer-to"]), Buffer.concat(chunks));
      if (url.includes("watch=true")) {
        response.writeHead(200, { "Content-Type": "application/json" }).flushHeaders();
        watching.add(response);
        return void response.on("close", () => watching.delete(response));
      }
      const line = method === "PATCH" && watching.size > 0 ? answers.get("WATCH /") : undefined;
      if (line !== undefined) for (const watcher of watching) watcher.write(line);
      const bytes = answers.get(`${method} ${url}`) ?? Buffer.from("{}");
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": bytes.length }).end(bytes);
    });
  };
}

async function addressOf(server: Server, scheme: string): Promise<string> {
  server.keepAliveTimeout = 180_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serve(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "management-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  const certificate = createServerCertificate({ name: "bench", clock: systemClock, chance: systemChance });
  const started = async (options: ManagementOptions) => {
    const management = await startManagement(options);
    await fill(management);
    return management;
  };
  const memory = await started({ tls: false });
  const sqlite = await started({ tls: false, store: openSqliteStore({ path: join(folder, "bench.db") }) });
  const tls = await started({ tls: certificate });
  const servers: Servers = {
    memory: memory.kubeconfig(memory.adminKey!),
    sqlite: sqlite.kubeconfig(sqlite.adminKey!),
    tls: tls.kubeconfig(tls.adminKey!),
    bare: await addressOf(createServer(bareListener()), "http"),
    bareTls: await addressOf(createHttpsServer({ cert: certificate.certPem, key: certificate.keyPem }, bareListener()), "https"),
    keys: await makeKeys(memory),
  };
  process.on("disconnect", () => process.exit());
  process.send!(servers);
}

if (process.send !== undefined && process.argv[1] === import.meta.filename) await serve();
