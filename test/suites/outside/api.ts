/**
 * A client of an API server that knows nothing of the product.
 *
 * @module
 */
import { Agent, request } from "node:https";
import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";

/** A kind and where it is served. */
export interface Kind {
  readonly kind: string;
  readonly plural: string;
  /** `api/v1`, for example. */
  readonly base: string;
}

const core = (kind: string, plural: string): Kind => ({ kind, plural, base: "api/v1" });
export const NAMESPACES = core("Namespace", "namespaces");
export const SERVICES = core("Service", "services");
export const ENDPOINTS = core("Endpoints", "endpoints");
export const SECRETS = core("Secret", "secrets");
export const CONFIG_MAPS = core("ConfigMap", "configmaps");
export const SLICES: Kind = { kind: "EndpointSlice", plural: "endpointslices", base: "apis/discovery.k8s.io/v1" };

/** Metadata of an object. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Any object. */
export interface Thing {
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

/** How a server is reached. */
export interface Access {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
}

/** Answer of a server. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** A failure reported by the server. */
export class Refused extends Error {
  readonly status: number;
  constructor({ status, text }: Answer, what: string) {
    super(`${what}: ${status} ${text.slice(0, 300)}`);
    this.status = status;
  }
}

/** One API server. */
export class Api {
  readonly access: Access;
  readonly #agent: Agent;

  constructor(access: Access) {
    this.access = access;
    this.#agent = new Agent({ keepAlive: true, ca: access.ca });
  }

  /** Sends a request, and says what it is answered as soon as that begins. */
  send(method: string, path: string, { body = "", type = "application/json" } = {}): Promise<IncomingMessage> {
    return new Promise((done, failed) => {
      const headers = {
        authorization: `Bearer ${this.access.token}`,
        accept: "application/json",
        ...(body !== "" && { "content-type": type, "content-length": Buffer.byteLength(body) }),
      };
      request(new URL(path, this.access.url), { agent: this.#agent, method, headers }, done).on("error", failed).end(body);
    });
  }

  /** Sends a request and reads the whole answer. A connection that had been idle for too long is replaced once. */
  async ask(method: string, path: string, options: { readonly body?: string; readonly type?: string } = {}): Promise<Answer> {
    const once = async (): Promise<Answer> => {
      const answer = await this.send(method, path, options);
      return { status: answer.statusCode ?? 0, type: String(answer.headers["content-type"] ?? ""), text: await readText(answer) };
    };
    try {
      return await once();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
      return once();
    }
  }

  async list(kind: Kind, namespace = ""): Promise<Thing[]> {
    return ((await this.#json("GET", pathOf(kind, namespace))) as { items: Thing[] }).items;
  }

  async get(kind: Kind, namespace: string, name: string): Promise<Thing | undefined> {
    const answer = await this.ask("GET", pathOf(kind, namespace, name));
    if (answer.status === 404) return undefined;
    return parsed(answer, `get ${kind.plural} ${namespace}/${name}`) as Thing;
  }

  async create(kind: Kind, thing: Thing): Promise<Thing> {
    const apiVersion = kind.base.replace(/^apis?\//, "");
    const body = JSON.stringify({ apiVersion, kind: kind.kind, ...thing });
    return (await this.#json("POST", pathOf(kind, thing.metadata.namespace ?? ""), { body })) as Thing;
  }

  /** A merge patch: null removes a field. */
  async merge(kind: Kind, [namespace, name]: readonly [string, string], patch: object): Promise<Thing> {
    const options = { body: JSON.stringify(patch), type: "application/merge-patch+json" };
    return (await this.#json("PATCH", pathOf(kind, namespace, name), options)) as Thing;
  }

  async remove(kind: Kind, namespace: string, name: string): Promise<void> {
    await this.#json("DELETE", pathOf(kind, namespace, name));
  }

  async namespaces(...names: readonly string[]): Promise<void> {
    for (const name of names) if (!(await this.get(NAMESPACES, "", name))) await this.create(NAMESPACES, { metadata: { name } });
  }

  /** The uid that tells this cluster from others. */
  async clusterUid(): Promise<string> {
    return (await this.get(NAMESPACES, "", "kube-system"))!.metadata.uid!;
  }

  /** Hands over every line of a watch from now on, until the function that it answers is called. */
  async watch(kind: Kind, namespace: string, line: (text: string) => void): Promise<() => void> {
    const answer = await this.send("GET", `${pathOf(kind, namespace)}?watch=true`);
    createInterface({ input: answer }).on("line", line);
    answer.on("error", () => undefined);
    return () => void answer.destroy();
  }

  async #json(method: string, path: string, options: { readonly body?: string; readonly type?: string } = {}): Promise<unknown> {
    return parsed(await this.ask(method, path, options), `${method} ${path}`);
  }

  close(): void {
    this.#agent.destroy();
  }
}

function parsed(answer: Answer, what: string): unknown {
  if (answer.status < 200 || answer.status >= 300) throw new Refused(answer, what);
  return JSON.parse(answer.text);
}

/** Where a kind, or one object of it, is served. */
export function pathOf({ base, plural }: Kind, namespace = "", name = ""): string {
  const below = namespace === "" ? "" : `/namespaces/${namespace}`;
  return `/${base}${below}/${plural}${name === "" ? "" : `/${name}`}`;
}

/** The whole of a stream. */
export async function readText(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}
