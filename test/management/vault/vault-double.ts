/**
 * A vault for tests: the part of the public HTTP API that reads secrets of the engines kv, versions 1 and 2.
 */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A vault that a test fills and breaks. */
export interface VaultDouble {
  readonly url: string;
  /** Paths and headers of the requests. */
  readonly asked: { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
  /** Every known token, with the prefixes of the paths that it may read. */
  readonly tokens: Map<string, readonly string[]>;
  sealed: boolean;
  /** Answers in place of the vault. True: it has answered, or never will. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Writes a secret of version 1. */
  kv1(mount: string, path: string, data: unknown): void;
  /** Writes the next version of a secret of version 2. */
  kv2(mount: string, path: string, data: unknown): void;
  /** Deletes the latest version of a secret. */
  remove(mount: string, path: string): void;
  stop(): Promise<void>;
}

interface Stored {
  readonly engine: 1 | 2;
  readonly versions: unknown[];
}

/** Starts a vault whose token `root-token` may read everything. */
export async function startVault({ namespace = "" } = {}): Promise<VaultDouble> {
  const secrets = new Map<string, Stored>();
  const server = createServer((request, response) => answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const put = (engine: 1 | 2, mount: string, path: string, data: unknown) => {
    const key = `${mount}/${path}`;
    const before = secrets.get(key)?.versions ?? [];
    secrets.set(key, { engine, versions: engine === 1 ? [data] : [...before, data] });
  };
  const vault: VaultDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    tokens: new Map([["root-token", [""]]]),
    sealed: false,
    instead: undefined,
    kv1: (mount, path, data) => put(1, mount, path, data),
    kv2: (mount, path, data) => put(2, mount, path, data),
    remove(mount, path) {
      const stored = secrets.get(`${mount}/${path}`);
      if (stored?.engine === 2) stored.versions[stored.versions.length - 1] = null;
      else secrets.delete(`${mount}/${path}`);
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return vault;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    vault.asked.push({ path, headers: request.headers });
    if (vault.instead?.(request, response) === true) return;
    const send = (code: number, body: object) =>
      void response.writeHead(code, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    const errors = (code: number, ...messages: string[]) => send(code, { errors: messages });
    if (vault.sealed) return errors(503, "Vault is sealed");
    if (request.method !== "GET") return errors(405);
    if ((request.headers["x-vault-namespace"] ?? "") !== namespace) return errors(404, "no handler for route");
    const inside = decodeURIComponent(path.replace(/^\/v1\//, ""));
    const allowed = vault.tokens.get(String(request.headers["x-vault-token"]))?.some((start) => inside.startsWith(start));
    if (allowed !== true || request.headers["x-vault-request"] !== "true") return errors(403, "permission denied");
    const [key, stored] = [...secrets].find(([name, { engine }]) => inside === (engine === 1 ? name : name.replace("/", "/data/"))) ?? [];
    if (key === undefined || stored === undefined) return errors(404);
    const data = stored.versions.at(-1);
    if (stored.engine === 1) return send(200, { request_id: "r", lease_duration: 2_764_800, data });
    const metadata = { version: stored.versions.length, destroyed: false, deletion_time: data === null ? "2026-01-01T00:00:00Z" : "" };
    return send(data === null ? 404 : 200, { request_id: "r", data: { data, metadata } });
  }
}
