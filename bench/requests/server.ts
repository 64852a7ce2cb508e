/**
 * One server of the bench of requests, alone in its process: the management API on memory or on a file, filled, or a bare server of Node
 * that answers with bytes that it was given.
 *
 * @module
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/apiserver/store/sqlite/sqlite-store.ts";
import { SHARED_SECRETS, startManagement } from "../../src/management.ts";

/** Kinds of servers in the bench. */
export type ServerKind = "bare" | "memory" | "file";

const KEY = "administrator".repeat(5);
/** Objects that a list shows. */
const OBJECTS = 100;

/** Answers, by method and path, with what was put there; reads what it is sent. */
async function serveBare(): Promise<string> {
  const answers = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const { method, url = "/", headers } = request;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (headers["x-answer-to"] !== undefined) answers.set(String(headers["x-answer-to"]), Buffer.concat(chunks));
      const bytes = answers.get(`${method} ${url}`) ?? Buffer.from("{}");
      const code = method === "POST" ? 201 : 200;
      response.writeHead(code, { "Content-Type": "application/json", "Content-Length": bytes.length }).end(bytes);
    });
  });
  server.keepAliveTimeout = 180_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serveManagement(kind: "memory" | "file"): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "requests-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  const store = kind === "file" ? { store: openSqliteStore({ path: join(folder, "bench.db") }) } : {};
  const { registry, url } = await startManagement({ tls: false, adminKey: KEY, ...store });
  for (let index = 0; index < OBJECTS; index += 1) {
    const metadata = { name: `secret-${index}`, labels: { app: "bench" } };
    const access = [{ name: "readers", verbs: ["get", "list"], users: ["jane", "joe"] }];
    const spec = { displayName: `Secret ${index}`, owner: { user: "admin" }, data: { password: "c2VjcmV0LXBhc3N3b3Jk" }, access };
    await registry.create(SHARED_SECRETS, "default", { metadata, spec });
  }
  return url;
}

const [kind] = process.argv.slice(2) as [ServerKind];
process.on("disconnect", () => process.exit());
process.send!(kind === "bare" ? await serveBare() : await serveManagement(kind));
