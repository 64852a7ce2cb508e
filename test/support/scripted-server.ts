import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import { systemChance } from "../../src/base/chance.ts";
import { systemClock } from "../../src/base/clock.ts";
import { createServerCertificate, type ServerCertificate } from "../../src/apiserver/access/certificates.ts";
import { listenOnOwnPort } from "./own-port.ts";

/** One request as a script sees it. */
export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly socket: Socket;
}

/** Handling of a request by a script; it may leave the answer open. */
export type Script = (request: ScriptedRequest, response: ServerResponse) => void | Promise<void>;

/** A server that does what a test tells it to, over HTTPS or HTTP. */
export interface ScriptedServer {
  readonly url: string;
  /** Undefined for HTTP. */
  readonly certificate: ServerCertificate | undefined;
  /** Everything that was asked, in order. */
  readonly requests: readonly ScriptedRequest[];
  /** Connections accepted since the start; each one was a handshake. */
  readonly connections: number;
  /** Connections that are open now. */
  readonly openConnections: number;
  /** Replaces the script. */
  script: Script;
  /** A kubeconfig for this server with context "test"; `user` is the user's entry. */
  kubeconfig(user?: Record<string, unknown>, cluster?: Record<string, unknown>): string;
  /** Ends every connection without a word, as a crash does. */
  resetConnections(): void;
  /** Stops listening and ends every connection; the port stays reserved for {@link listen}. */
  shut(): Promise<void>;
  /** Listens again on the same port. */
  listen(): Promise<void>;
  close(): Promise<void>;
}

/** How a scripted server is set up. */
export interface ScriptedServerOptions {
  /** Default "https". */
  readonly scheme?: "http" | "https";
  readonly script?: Script;
  /** Ask clients for a certificate, without checking who signed it. */
  readonly requestCert?: boolean;
}

/** Starts a server on a free port of the loopback interface. */
export async function startScriptedServer(options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const { scheme = "https", requestCert = false } = options;
  const certificate =
    scheme === "https" ? createServerCertificate({ name: "scripted", clock: systemClock, chance: systemChance }) : undefined;
  const requests: ScriptedRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "/", "http://server");
    const body = await readBody(request);
    const { method = "", headers, socket } = request;
    const seen = { method, path: url.pathname, query: url.searchParams, headers, body, socket };
    requests.push(seen);
    await server.script(seen, response);
  };
  // A request that its client gave up breaks while its body is read; that is the client's business.
  const handle = (request: IncomingMessage, response: ServerResponse) => void answer(request, response).catch(() => response.destroy());
  const listener =
    certificate === undefined
      ? createHttpServer(handle)
      : createHttpsServer({ cert: certificate.certPem, key: certificate.keyPem, requestCert, rejectUnauthorized: false }, handle);
  listener.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  listener.on(scheme === "https" ? "secureConnection" : "connection", () => void (connections += 1));
  // A connection ends when one side ends it, not when a machine is slow.
  listener.keepAliveTimeout = 0;
  const port = await listenOnOwnPort(listener);
  const url = `${scheme}://127.0.0.1:${port}`;

  const server: ScriptedServer = {
    url,
    certificate,
    requests,
    get connections() {
      return connections;
    },
    get openConnections() {
      return sockets.size;
    },
    script: options.script ?? ((_, response) => json(response, { kind: "Status", code: 404, reason: "NotFound" }, 404)),
    kubeconfig: (user = {}, cluster = {}) => kubeconfigText({ url, certificate, user, cluster }),
    resetConnections() {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async shut() {
      const ended = new Promise((resolve) => listener.close(resolve));
      for (const socket of sockets) socket.destroy();
      await ended;
    },
    async listen() {
      listener.listen(port, "127.0.0.1");
      await once(listener, "listening");
    },
    async close() {
      if (listener.listening) await server.shut();
    },
  };
  return server;
}

interface KubeconfigParts {
  readonly url: string;
  readonly certificate: ServerCertificate | undefined;
  readonly user: Record<string, unknown>;
  readonly cluster: Record<string, unknown>;
}

function kubeconfigText({ url, certificate, user, cluster }: KubeconfigParts): string {
  const ca = certificate === undefined ? {} : { "certificate-authority-data": Buffer.from(certificate.caPem).toString("base64") };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "scripted", cluster: { server: url, ...ca, ...cluster } }],
    users: [{ name: "tester", user }],
    contexts: [{ name: "test", context: { cluster: "scripted", user: "tester" } }],
    "current-context": "test",
  });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** Answers with JSON. */
export function json(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Answers with a Status of failure. */
export function failure(response: ServerResponse, code: number, reason: string, headers: Record<string, string> = {}): void {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: `scripted ${reason}`, reason, code };
  json(response, status, code, headers);
}

/** Begins a stream of watch events and writes `events`. */
export function stream(response: ServerResponse, ...events: readonly unknown[]): void {
  if (!response.headersSent) response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
  for (const event of events) response.write(`${JSON.stringify(event)}\n`);
}
