/**
 * An HTTPS proxy between one syncer and one API server, with weather: each request meets, by chance, what networks, load balancers and
 * troubled API servers do to requests.
 *
 * @module
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { createServerCertificate } from "../../../src/apiserver/access/certificates.ts";
import { readText, type Answer, type Api } from "../outside/api.ts";
import type { Chance } from "../outside/cases.ts";

export type Side = "tenant" | "host";

/** Target of a request. */
export interface Asked {
  /** Before whose API server the proxy stands. */
  readonly side: Side;
  readonly method: string;
  readonly url: string;
  readonly verb: "get" | "list" | "watch" | "write";
  readonly plural: string;
  readonly namespace: string;
  /** Of the object in the body where the address has none; "" for a collection. */
  readonly name: string;
  readonly body: string;
}

/** A write that reached the server, and what the server said. */
export interface Stored extends Asked {
  readonly status: number;
}

/** An answer that is changed on its way. */
export interface Told extends Answer {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Actions on a request. */
export interface Way {
  readonly asked: Asked;
  readonly chance: Chance;
  /** Has the server do it. */
  ask(): Promise<Answer>;
  tell(answer: Told): void;
  /** Ends the answer in the middle. */
  tellHalf(answer: Answer): void;
  /** Sends half of the answer's body, and the rest so many milliseconds later. */
  tellInHalves(answer: Answer, ms: number): Promise<void>;
  /** Ends the connection without a word. */
  reset(): void;
  /** Resolves after so many milliseconds. */
  wait(ms: number): Promise<void>;
  /** Lets it pass, as if nothing was. */
  pass(): Promise<void>;
}

/** Something that happens to requests. */
export interface Fault {
  readonly name: string;
  readonly meets: (asked: Asked) => boolean;
  readonly act: (way: Way) => Promise<void>;
}

/**
 * Fault of a watch's lines: returns the lines to pass on in place of one, or that the watch ends in the middle of it, or after how many
 * milliseconds its second half follows. `held` has the lines held back before.
 */
export interface LineFault {
  readonly name: string;
  readonly change: (line: string, held: string[], chance: Chance) => readonly string[] | "cut" | number;
}

/** A fault and how often it happens, from 0 to 1. */
export type Weather = readonly (readonly [Fault | LineFault, number])[];

const CERTIFICATE = createServerCertificate({ name: "chaos", clock: systemClock, chance: systemChance });

/** Options of a proxy. */
export interface ProxyOptions {
  readonly api: Api;
  readonly chance: Chance;
  /** Told in a line what is done to a request. */
  readonly note: (text: string) => void;
}

/** One proxy. It knows every write that the server has stored, and counts the faults by cluster. */
export class ChaosProxy {
  readonly name: string;
  readonly #side: Side;
  readonly #api: Api;
  readonly #chance: Chance;
  readonly #note: (text: string) => void;
  readonly #server = createServer({ cert: CERTIFICATE.certPem, key: CERTIFICATE.keyPem });
  readonly #sockets = new Set<Socket>();
  readonly #watches = new Set<{ end(): void; lines(): void }>();
  #port = 0;
  #thawed: Promise<void> = Promise.resolve();
  #thaw = () => undefined as void;
  /** Writes that the server stored, in order; objects that cannot be copies are left out. */
  readonly stored: Stored[] = [];
  readonly counts = new Map<string, number>();
  weather: Weather = [];

  private constructor(side: Side, of: string, { api, chance, note }: ProxyOptions) {
    this.name = `${side} of ${of}`;
    this.#side = side;
    this.#api = api;
    this.#chance = chance;
    this.#note = note;
    this.#server.keepAliveTimeout = 0;
    this.#server.requestTimeout = 0;
    this.#server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket));
    });
    this.#server.on("tlsClientError", () => undefined);
    this.#server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      response.on("error", () => undefined);
      this.#meet(request, response).catch(() => response.destroy());
    });
  }

  /** @param of The virtual cluster, for people. */
  static async start(side: Side, of: string, options: ProxyOptions): Promise<ChaosProxy> {
    const proxy = new ChaosProxy(side, of, options);
    await proxy.#listen();
    return proxy;
  }

  async #listen(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Writes a kubeconfig that leads through this proxy. */
  writeKubeconfig(path: string): void {
    const authority = Buffer.from(CERTIFICATE.caPem).toString("base64");
    const cluster = { server: `https://127.0.0.1:${this.#port}`, "certificate-authority-data": authority };
    const contexts = [{ name: "chaos", context: { cluster: "chaos", user: "chaos" } }];
    const lists = { clusters: [{ name: "chaos", cluster }], users: [{ name: "chaos", user: {} }], contexts };
    writeFileSync(path, JSON.stringify({ apiVersion: "v1", kind: "Config", ...lists, "current-context": "chaos" }));
  }

  /** Nothing moves until {@link thaw}. */
  freeze(): void {
    this.#thawed = new Promise((thaw) => (this.#thaw = thaw));
  }

  thaw(): void {
    this.#thaw();
    this.#thawed = Promise.resolve();
  }

  /** Ends every connection with RST. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Refuses connections until {@link open}. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.reset();
    await closed;
  }

  async open(): Promise<void> {
    if (!this.#server.listening) await this.#listen();
  }

  /** Ends watches in order, as servers do from time to time. */
  endWatches(): void {
    for (const { end } of this.#watches) end();
  }

  /** Passes on what line faults have held back. */
  release(): void {
    for (const { lines } of this.#watches) lines();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    this.reset();
  }

  async #meet(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = request.method === "GET" ? "" : await readText(request);
    const asked = { side: this.#side, ...describe(request, body) };
    await this.#thawed;
    const way = this.#wayOf(asked, request, response);
    const fault = this.weather.find(([one, share]) => "act" in one && one.meets(asked) && this.#chance.fraction() < share)?.[0] as Fault;
    if (fault === undefined) return way.pass();
    this.#count(fault.name, `${asked.method} ${asked.url}`);
    await fault.act(way);
  }

  #count(name: string, what: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    this.#note(`${this.name}: ${name}: ${what}`);
  }

  #wayOf(asked: Asked, request: IncomingMessage, response: ServerResponse): Way {
    const type = request.headers["content-type"] ?? "application/json";
    const tell = ({ status, type: answered, text, headers = {} }: Told) => {
      if (!response.destroyed) response.writeHead(status, { "content-type": answered, ...headers }).end(text);
    };
    const ask = async () => {
      const answer = await this.#api.ask(asked.method, asked.url, { body: asked.body, type });
      if (asked.plural === "events" && asked.verb === "write") this.#note(`${this.name}: told ${toldIn(asked.body)}`);
      if (asked.verb === "write" && !NO_COPIES.has(asked.plural)) {
        this.stored.push({ ...asked, status: answer.status });
        this.#note(`${this.name}: ${asked.method} ${asked.plural} ${asked.namespace}/${asked.name} is ${answer.status}`);
      }
      return answer;
    };
    return {
      asked,
      chance: this.#chance,
      ask,
      tell,
      tellHalf: ({ status, type: answered, text }) => {
        response.writeHead(status, { "content-type": answered, "content-length": Buffer.byteLength(text) });
        response.write(text.slice(0, text.length / 2), () => response.destroy());
      },
      tellInHalves: async ({ status, type: answered, text }, ms) => {
        if (response.destroyed) return;
        const body = Buffer.from(text);
        const half = body.length >> 1;
        response.writeHead(status, { "content-type": answered, "content-length": body.length });
        response.write(body.subarray(0, half));
        await pause(ms);
        response.end(body.subarray(half));
      },
      reset: () => response.socket?.destroy(),
      wait: pause,
      pass: async () => {
        if (asked.verb === "watch") return this.#watch(asked, response);
        const answer = await ask();
        if (asked.verb === "get") this.#note(`${this.name}: GET ${asked.url} is ${answer.status}`);
        tell(answer);
      },
    };
  }

  async #watch({ url }: Asked, response: ServerResponse): Promise<void> {
    const answer = await this.#api.send("GET", url);
    response.once("close", () => answer.destroy());
    answer.once("error", () => response.destroy());
    response.writeHead(answer.statusCode ?? 500, { "content-type": answer.headers["content-type"] ?? "application/json" });
    response.flushHeaders();
    const held: string[] = [];
    const write = (lines: readonly string[]) => void (lines.length > 0 && response.write(`${lines.join("\n")}\n`));
    const open = { end: () => void response.end(), lines: () => write(held.splice(0)) };
    this.#watches.add(open);
    response.once("close", () => this.#watches.delete(open));
    let rest = "";
    for await (const chunk of answer) {
      const lines = (rest + (chunk as Buffer).toString("utf8")).split("\n");
      rest = lines.pop() ?? "";
      await this.#thawed;
      for (const line of lines) {
        const changed = this.#changed(line, held);
        const half = line.length >> 1;
        if (changed === "cut") return void response.write(line.slice(0, half), () => response.destroy());
        if (typeof changed === "number") {
          write(held.splice(0));
          response.write(line.slice(0, half));
          await pause(changed);
          response.write(`${line.slice(half)}\n`);
        } else write(changed);
      }
    }
    response.end();
  }

  #changed(line: string, held: string[]): ReturnType<LineFault["change"]> {
    const fault = this.weather.find(([one, share]) => "change" in one && this.#chance.fraction() < share)?.[0] as LineFault | undefined;
    if (fault === undefined) return inOrder(line, held.splice(0));
    this.#count(fault.name, line.slice(0, 160));
    return fault.change(line, held, this.#chance);
  }
}

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** A line and those that were held back before: behind it, unless they are about the same object. */
function inOrder(line: string, held: readonly string[]): readonly string[] {
  return belongsAfter(line, held) ? [...held, line] : [line, ...held];
}

/** Whether no API server sends a line before those that are held back: they are about its object, or it ends a list that has them. */
export function belongsAfter(line: string, held: readonly string[]): boolean {
  return line.includes("k8s.io/initial-events-end") || held.some((one) => uidOf(one) === uidOf(line));
}

/** Of the object that a line of a watch is about. */
function uidOf(line: string): string {
  return /"uid":"([^"]+)"/.exec(line)?.[1] ?? "";
}

const NO_COPIES = new Set(["events", "leases", "selfsubjectaccessreviews", "selfsubjectrulesreviews"]);
const PLACE = /^\/(?:api|apis\/[^/]+)\/v1(?:\/namespaces\/([^/]+))?\/([a-z]+)(?:\/([^/?]+))?/;

function describe({ method = "", url = "" }: IncomingMessage, body: string): Omit<Asked, "side"> {
  const [, namespace = "", plural = "", inAddress = ""] = PLACE.exec(url) ?? [];
  const name = inAddress || nameIn(body);
  const read = url.includes("watch=true") ? "watch" : inAddress === "" && plural !== "" ? "list" : "get";
  return { method, url, verb: method === "GET" ? read : "write", plural, namespace, name, body };
}

/** Content of an Event, and its object. */
function toldIn(body: string): string {
  const { reason, note, message, regarding, involvedObject } = JSON.parse(body) as Record<string, unknown>;
  const { namespace, name } = (regarding ?? involvedObject ?? {}) as Record<string, unknown>;
  return `${String(namespace)}/${String(name)} ${String(reason)}: ${String(note ?? message)}`;
}

function nameIn(body: string): string {
  return body === "" ? "" : ((JSON.parse(body) as { metadata?: { name?: string } }).metadata?.name ?? "");
}
