/**
 * A proxy that stands between one syncer and one API server: it knows every write that was tried, lets through what passes, and loses
 * answers when it is asked to.
 *
 * @module
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readText, type Answer, type Api } from "./api.ts";

/** A request that is no read. */
export interface Write {
  readonly method: string;
  readonly plural: string;
  readonly namespace: string;
  /** Of the object in the body where the address has none. */
  readonly name: string;
  readonly body: string;
  /** Status of the server's answer; 0 until then, whether or not the client gets it. */
  status: number;
}

/** Actions on a write. */
export interface Way {
  /** Has the server do it. */
  ask(): Promise<Answer>;
  /** Hands the client an answer. */
  tell(answer: Answer): void;
  /** Ends the connection without a word. */
  reset(): void;
}

/** Action on a write in place of forwarding; undefined forwards it. */
export type Fault = (write: Write) => ((way: Way) => Promise<void>) | undefined;

/** The server does it, and its answer is lost. */
export const loseAnswer = async ({ ask, reset }: Way): Promise<void> => {
  await ask();
  reset();
};

/** How a way is cut: nothing is heard any more, or every connection breaks. */
export type Cut = "silent" | "refused";

/** One proxy. */
export class Proxy {
  readonly #api: Api;
  readonly #server = createServer((request, response) => {
    response.on("error", () => undefined);
    this.#pass(request, response).catch(() => response.destroy());
  });
  /** Every write that was tried, in order. What can be no copy is left out. */
  readonly writes: Write[] = [];
  fault: Fault = () => undefined;
  /** Present while the way is cut; `healed` resolves at its end. */
  #cut: { readonly how: Cut; readonly healed: Promise<void>; heal(): void } | undefined;
  /** Answers that stream, and ends them. */
  readonly #streams = new Set<() => void>();

  private constructor(api: Api) {
    this.#api = api;
    this.#server.keepAliveTimeout = 0;
    this.#server.requestTimeout = 0;
  }

  static async start(api: Api): Promise<Proxy> {
    const proxy = new Proxy(api);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** Writes a kubeconfig that leads through this proxy. */
  writeKubeconfig(path: string): void {
    const server = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    const name = "outside";
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server } }],
      users: [{ name, user: {} }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      "current-context": name,
    };
    writeFileSync(path, JSON.stringify(config));
  }

  /** Writes that the server accepted. */
  get accepted(): readonly Write[] {
    return this.writes.filter(({ status }) => status >= 200 && status < 300);
  }

  /** Cuts the way between the syncer and the server. What is on its way when a silent cut ends arrives late, as TCP does it. */
  cut(how: Cut): void {
    if (this.#cut !== undefined) this.heal();
    let heal = (): void => undefined;
    const healed = new Promise<void>((resolve) => (heal = resolve));
    this.#cut = { how, healed, heal };
    for (const end of this.#streams) end();
    if (how === "refused") this.#server.closeAllConnections();
  }

  heal(): void {
    this.#cut?.heal();
    this.#cut = undefined;
    // Data sent meanwhile on open streams is lost.
    for (const end of this.#streams) end();
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#cut?.how === "refused") return void request.socket.resetAndDestroy();
    const { method = "", url = "", headers } = request;
    const type = headers["content-type"] ?? "application/json";
    const body = await readText(request);
    await this.#cut?.healed;
    if (method === "GET") return this.#stream(url, response);
    const write = describe(method, url, body);
    if (write !== undefined) this.writes.push(write);
    const way: Way = {
      ask: async () => {
        const answer = await this.#api.ask(method, url, { body, type });
        if (write !== undefined) write.status = answer.status;
        return answer;
      },
      tell: ({ status, type: answered, text }) => {
        if (!response.destroyed) response.writeHead(status, { "content-type": answered }).end(text);
      },
      reset: () => response.socket?.resetAndDestroy(),
    };
    const fault = write && this.fault(write);
    if (fault !== undefined) return fault(way);
    way.tell(await way.ask());
  }

  async #stream(url: string, response: ServerResponse): Promise<void> {
    const answer = await this.#api.send("GET", url).catch(() => this.#api.send("GET", url));
    const end = (): void => {
      if (this.#cut?.how === "silent") answer.unpipe(response);
      else response.destroy();
    };
    this.#streams.add(end);
    response.once("close", () => {
      this.#streams.delete(end);
      answer.destroy();
    });
    answer.once("error", () => response.destroy());
    response.writeHead(answer.statusCode ?? 500, { "content-type": answer.headers["content-type"] ?? "application/json" });
    response.flushHeaders();
    answer.pipe(response);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const NO_COPIES = new Set(["events", "leases", "selfsubjectaccessreviews"]);
const PLACE = /^\/(?:api|apis\/[^/]+)\/v1(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/?]+))?/;

function describe(method: string, url: string, body: string): Write | undefined {
  const [, namespace = "", plural = "", inAddress] = PLACE.exec(url) ?? [];
  if (NO_COPIES.has(plural)) return undefined;
  return { method, plural, namespace, name: inAddress ?? nameIn(body), body, status: 0 };
}

function nameIn(body: string): string {
  return (JSON.parse(body) as { metadata?: { name?: string } }).metadata?.name ?? "";
}

/** One line about a write. */
export function tell({ method, plural, namespace, name, status }: Write): string {
  return `${method} ${plural} ${namespace}/${name} ${status}`;
}
