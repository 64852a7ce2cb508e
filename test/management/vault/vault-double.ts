/**
 * A vault for tests: the part of the public HTTP API that reads secrets of the engines kv, versions 1 and 2, and looks up and renews tokens.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A vault that a test fills and breaks. */
export interface VaultDouble {
  readonly url: string;
  /** Paths and headers of the requests. */
  readonly asked: { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
  /** Every known token, with the prefixes of the paths that it may read. */
  readonly tokens: Map<string, readonly string[]>;
  /** Lives of tokens; one that is not among them has no end. */
  readonly lives: Map<string, TokenLife>;
  /** Requests about tokens: `lookup-self` or `renew-self`, with the token. They are not among `asked`. */
  readonly tokenAsked: string[];
  sealed: boolean;
  /** Answers in place of the vault. True: it has answered, or never will. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** The same for requests about tokens. */
  insteadOfToken: VaultDouble["instead"];
  /** Writes a secret of version 1. */
  kv1(mount: string, path: string, data: unknown): void;
  /** Writes the next version of a secret of version 2. */
  kv2(mount: string, path: string, data: unknown): void;
  /** Deletes the latest version of a secret. */
  remove(mount: string, path: string): void;
  stop(): Promise<void>;
}

/** A life that ends, in milliseconds by the clock of the vault. */
export interface TokenLife {
  endMs: number;
  readonly renewable: boolean;
  /** What a renewal grants, in seconds. */
  readonly period: number;
  /** No renewal goes beyond. Default: none. */
  readonly lastMs?: number;
}

interface Stored {
  readonly engine: 1 | 2;
  readonly versions: unknown[];
}

/** Options of {@link startVault}. */
export interface VaultDoubleOptions {
  /** Default: none. */
  readonly namespace?: string;
  /** Its clock. Default: the machine's. */
  readonly now?: () => number;
  /** Certificate and key, in PEM. Default: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** Starts a vault whose token `root-token` may read everything. */
export async function startVault({ namespace = "", now = () => Date.now(), tls }: VaultDoubleOptions = {}): Promise<VaultDouble> {
  const secrets = new Map<string, Stored>();
  const listener = (request: IncomingMessage, response: ServerResponse) => answer(request, response);
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const put = (engine: 1 | 2, mount: string, path: string, data: unknown) => {
    const key = `${mount}/${path}`;
    const before = secrets.get(key)?.versions ?? [];
    secrets.set(key, { engine, versions: engine === 1 ? [data] : [...before, data] });
  };
  const vault: VaultDouble = {
    url: `${tls === undefined ? "http://127.0.0.1" : "https://localhost"}:${(server.address() as AddressInfo).port}`,
    asked: [],
    tokens: new Map([["root-token", [""]]]),
    lives: new Map(),
    tokenAsked: [],
    sealed: false,
    instead: undefined,
    insteadOfToken: undefined,
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
    const token = String(request.headers["x-vault-token"]);
    const [, act] = /^\/v1\/auth\/token\/(lookup-self|renew-self)$/.exec(path) ?? [];
    if (act !== undefined) vault.tokenAsked.push(`${act} ${token}`);
    else vault.asked.push({ path, headers: request.headers });
    if ((act === undefined ? vault.instead : vault.insteadOfToken)?.(request, response) === true) return;
    const send = (code: number, body: object) =>
      void response.writeHead(code, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    const errors = (code: number, ...messages: string[]) => send(code, { errors: messages });
    if (vault.sealed) return errors(503, "Vault is sealed");
    if (request.method !== (act === "renew-self" ? "POST" : "GET")) return errors(405);
    if ((request.headers["x-vault-namespace"] ?? "") !== namespace) return errors(404, "no handler for route");
    const life = vault.lives.get(token);
    const ended = life !== undefined && life.endMs <= now();
    const inside = decodeURIComponent(path.replace(/^\/v1\//, ""));
    const allowed = vault.tokens.get(token)?.some((start) => act !== undefined || inside.startsWith(start));
    if (allowed !== true || ended || request.headers["x-vault-request"] !== "true") return errors(403, "permission denied");
    if (act !== undefined) return ofToken(act, life, { send, errors });
    const [key, stored] = [...secrets].find(([name, { engine }]) => inside === (engine === 1 ? name : name.replace("/", "/data/"))) ?? [];
    if (key === undefined || stored === undefined) return errors(404);
    const data = stored.versions.at(-1);
    if (stored.engine === 1) return send(200, { request_id: "r", lease_duration: 2_764_800, data });
    const metadata = { version: stored.versions.length, destroyed: false, deletion_time: data === null ? "2026-01-01T00:00:00Z" : "" };
    return send(data === null ? 404 : 200, { request_id: "r", data: { data, metadata } });
  }

  interface Answering {
    readonly send: (code: number, body: object) => void;
    readonly errors: (code: number, ...messages: string[]) => void;
  }

  function ofToken(act: string, life: TokenLife | undefined, { send, errors }: Answering): void {
    const { renewable = false, period = 0, lastMs = Infinity } = life ?? {};
    const timeOf = (ms: number) => new Date(ms).toISOString();
    const seconds = () => (life === undefined ? 0 : Math.floor((life.endMs - now()) / 1_000));
    if (act === "lookup-self")
      return send(200, { data: { id: "hidden-id", ttl: seconds(), expire_time: life && timeOf(life.endMs), renewable }, auth: null });
    if (life === undefined || !renewable) return errors(400, "lease is not renewable");
    life.endMs = Math.min(now() + period * 1_000, lastMs);
    send(200, { data: null, auth: { client_token: "hidden-id", lease_duration: seconds(), renewable } });
  }
}
