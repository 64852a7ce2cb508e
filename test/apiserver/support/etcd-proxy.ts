/** Stands between a store and its etcd, and does to requests and answers what networks do. */
import { once } from "node:events";
import { createServer, request as send, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Transform } from "node:stream";

/** Handling of a request. */
export type Fate =
  /** It is passed on, and so is its answer. */
  | "pass"
  /** The connection ends before etcd has heard of it. */
  | "lose-request"
  /** Etcd carries it out; the connection ends instead of an answer. */
  | "lose-answer"
  /** The connection ends, and etcd gets the request when `release` is called. */
  | "hold"
  /** No answer comes. */
  | "swallow";

/** One request as it comes by. */
export interface ProxiedRequest {
  readonly path: string;
  readonly body: string;
}

/** The proxy. */
export interface EtcdProxy {
  readonly url: string;
  /** Decides from now on. Default: everything passes. */
  decide: (request: ProxiedRequest) => Fate | Promise<Fate>;
  /** Called after etcd's answer and before it is passed on. Default: nothing. */
  beforeAnswer: (request: ProxiedRequest) => Promise<void>;
  /** Changes a line of a watch. Default: it stays as it is. */
  garble: (line: string) => string;
  /** Sends on what is held; answers what etcd said to it. */
  release(): Promise<string[]>;
  /** Cuts the watches that run. */
  cutWatches(): void;
  /** Running watches deliver nothing more, and are not closed either. */
  stallWatches(): void;
  /** Requests seen, by path. */
  readonly seen: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

interface RunningWatch {
  readonly upstream: IncomingMessage;
  readonly lines: Transform;
  readonly response: ServerResponse;
}

function changingLines(change: (line: string) => string): Transform {
  let rest = "";
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = `${rest}${chunk.toString()}`.split("\n");
      rest = lines.pop()!;
      done(null, lines.map((line) => `${change(line)}\n`).join(""));
    },
  });
}

/** A transaction that writes; those that only read are questions. */
export function isWrite({ path, body }: ProxiedRequest): boolean {
  return path === "/v3/kv/txn" && /"request_(put|delete_range)"/.test(body);
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Starts one before the etcd at `target`. */
export async function startEtcdProxy(target: string): Promise<EtcdProxy> {
  const watches = new Set<RunningWatch>();
  const held: (() => Promise<string>)[] = [];
  const seen = new Map<string, number>();

  const forward = ({ path, body }: ProxiedRequest, headers: IncomingMessage["headers"] = {}) => {
    const upstream = send(`${target}${path}`, { method: "POST", headers: { ...headers, "content-length": Buffer.byteLength(body) } });
    upstream.end(body);
    return new Promise<IncomingMessage>((resolve, reject) => upstream.once("response", resolve).once("error", reject));
  };

  const answer = async (request: ProxiedRequest, { headers }: IncomingMessage, response: ServerResponse) => {
    const upstream = await forward(request, headers);
    await proxy.beforeAnswer(request);
    response.writeHead(upstream.statusCode!, { "content-type": "application/json" });
    upstream.on("error", () => response.destroy());
    response.once("close", () => upstream.destroy());
    if (request.path !== "/v3/watch") return void upstream.pipe(response);
    const lines = changingLines((line) => proxy.garble(line));
    upstream.pipe(lines).pipe(response);
    const watch = { upstream, lines, response };
    watches.add(watch);
    response.once("close", () => watches.delete(watch));
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = { path: incoming.url!, body: await textOf(incoming) };
    seen.set(request.path, (seen.get(request.path) ?? 0) + 1);
    const fate = await proxy.decide(request);
    if (fate === "swallow") return;
    if (fate === "hold") held.push(async () => textOf(await forward(request)));
    if (fate === "lose-answer") await textOf(await forward(request));
    if (fate === "pass") await answer(request, incoming, response).catch(() => incoming.socket.destroy());
    else incoming.socket.destroy();
  };
  const server = createServer((incoming, response) => void handle(incoming, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const proxy: EtcdProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    decide: () => "pass",
    beforeAnswer: async () => {},
    garble: (line) => line,
    release: () => Promise.all(held.splice(0).map((go) => go())),
    cutWatches: () => watches.forEach(({ response }) => response.destroy()),
    stallWatches: () => watches.forEach(({ upstream, lines }) => upstream.unpipe(lines)),
    seen,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}
