/**
 * A cluster's API over HTTP(S), with the guarantees of ClusterClient.
 *
 * All users of a client share its connections: at most `connectionsMax` for calls, 16 for lists of one object each, and one for each watch.
 * Connections stay open between calls.
 *
 * @module
 */
import { delay, type Clock } from "../../base/clock.ts";
import { assert, EngineError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { silentLogger, type Logger } from "../../base/logger.ts";
import { noMetrics, type Metrics } from "../../base/metrics.ts";
import type {
  ClusterClient,
  DeletePreconditions,
  ListOptions,
  ObjectList,
  PatchType,
  WatchEvent,
  WatchOptions,
} from "../object/cluster-client.ts";
import { keyOf, type ObjectKey } from "../object/key.ts";
import { groupOf, type ResourceType } from "../object/resource.ts";
import type { KubeObject } from "../object/types.ts";
import {
  checkDeleted,
  errorFromAnswer,
  isSuccess,
  objectFromAnswer,
  parseAnswer,
  statusInAnswer,
  type Answer,
  type Expected,
} from "./answer.ts";
import { resolveConnection, type KubeConfigView } from "./connection.ts";
import { CredentialSource } from "./credentials/credentials.ts";
import { createRateLimit, type RateLimit } from "./transport/rate-limit.ts";
import { queryString, resourcePath } from "./resource-path.ts";
import { isAnswer, Sender, type ApiRequest, type Stream } from "./transport/sender.ts";
import { Transport } from "./transport/transport.ts";
import { readWatch } from "./watch/watch-stream.ts";

/** Limits of one client, each with a default. */
export interface HttpClientLimits {
  /** A call without a complete response after this time fails. Default 30 s. */
  readonly timeoutMs?: number;
  /** Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Connections for calls; they are opened on demand. Default 8. */
  readonly connectionsMax?: number;
  /** A larger response is refused. Default 128 MiB. */
  readonly answerBytesMax?: number;
  /** A larger watch event is refused. Default 16 MiB; API servers refuse objects over 3 MiB. */
  readonly eventBytesMax?: number;
  /** A watch without any byte for this time is abandoned. Default 90 s: servers send bookmarks about once a minute. */
  readonly inactivityMs?: number;
  /** A credential plugin is killed after this time. Default 60 s. */
  readonly pluginTimeoutMs?: number;
}

/** Options of a client. */
export interface HttpClientOptions extends HttpClientLimits {
  /** The kubeconfig, from {@link loadKubeConfig} or the caller. */
  readonly kubeConfig: KubeConfigView;
  /** Context of the kubeconfig. Default: the current one. */
  readonly context?: string;
  readonly clock: Clock;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  /** The environment that credential plugins inherit; without PATH, a plugin is found only by its full path. Default empty. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Limit for the rate of writes. Default: no limit; the server applies its own. */
  readonly writeRate?: RateLimit;
  /**
   * Called right before the first byte of each write is sent, after any wait. While it returns false, writes fail with LEADERSHIP_LOST.
   * Default: always true.
   */
  readonly mayWrite?: () => boolean;
  /** Called when the cluster reports a missing permission. */
  readonly onForbidden?: () => void;
  /** Value of the User-Agent header. The part before the first slash is the field manager. Default "endpoint-sync". */
  readonly userAgent?: string;
}

const DEFAULTS = {
  timeoutMs: 30_000,
  connectTimeoutMs: 10_000,
  connectionsMax: 8,
  answerBytesMax: 128 << 20,
  eventBytesMax: 16 << 20,
  inactivityMs: 90_000,
  pluginTimeoutMs: 60_000,
} satisfies HttpClientLimits;

const PATCH_CONTENT_TYPE: Readonly<Record<PatchType, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
};

/** A quotation within the quoted text of a Warning header. It may be a value of an object. */
const QUOTED_IN_WARNING = /\\"[^]*\\"/;

/** Maximum number of different warnings of a server that are logged. Servers repeat a warning in every response. */
const WARNINGS_MAX = 100;

/**
 * Creates a client of one cluster. It opens no connection before the first call.
 *
 * @throws CONFIG_VALUE when the context is missing or incomplete.
 * @example
 * const client = createHttpClient({ kubeConfig: await loadKubeConfig({ path: "tenant.yaml" }), clock: systemClock });
 * await client.get(ENDPOINTS, { namespace: "shop", name: "db" });
 */
export function createHttpClient(options: HttpClientOptions): ClusterClient {
  return new HttpClient(options);
}

class HttpClient implements ClusterClient {
  readonly streamsLists = true;
  readonly #clock: Clock;
  readonly #limits: Required<HttpClientLimits>;
  readonly #transport: Transport;
  readonly #sender: Sender;
  readonly #takeWrite: () => number;
  readonly #closing = new AbortController();

  constructor(options: HttpClientOptions) {
    const {
      kubeConfig,
      context,
      clock,
      logger = silentLogger,
      metrics = noMetrics,
      environment = {},
      writeRate,
      mayWrite,
      onForbidden = () => {},
      userAgent = "endpoint-sync",
    } = options;
    const limits = (this.#limits = { ...DEFAULTS, ...options });
    const connection = resolveConnection(kubeConfig, context);
    const { origin, cluster } = connection;
    const signal = this.#closing.signal;
    this.#clock = clock;
    this.#transport = new Transport({ ...limits, origin, proxyUrl: cluster.proxyUrl, beforeWrite: mayWrite && guard(mayWrite) });
    const credentials = new CredentialSource({ ...limits, kubeConfig, connection, clock, logger, environment, signal });
    const onWarning = onceEach((text) =>
      logger.info("The API server warns", { server: origin, warning: text.replace(QUOTED_IN_WARNING, '\\"…\\"') }),
    );
    this.#sender = new Sender({
      ...limits,
      connection,
      credentials,
      transport: this.#transport,
      clock,
      metrics,
      userAgent,
      onWarning,
      onForbidden,
    });
    this.#takeWrite = writeRate === undefined ? () => 0 : createRateLimit(writeRate, clock);
  }

  async get(resource: ResourceType, key: ObjectKey): Promise<KubeObject | undefined> {
    const answer = await this.#send({ method: "GET", path: resourcePath(resource, key) });
    return isAbsent(answer) ? undefined : objectFromAnswer(this.#checked(answer), { resource, key });
  }

  async list(resource: ResourceType, options: ListOptions = {}): Promise<ObjectList> {
    const { namespace, labelSelector, fieldSelector, limit, continue: next, resourceVersion, signal } = options;
    // With a limit, a bare resourceVersion means exactly that state; the contract is "not older than".
    const resourceVersionMatch = resourceVersion === undefined ? undefined : "NotOlderThan";
    const query = { labelSelector, fieldSelector, limit, continue: next, resourceVersion, resourceVersionMatch };
    const path = resourcePath(resource, { namespace }) + queryString(query);
    return listFromAnswer(this.#checked(await this.#send({ method: "GET", path, signal, alone: fieldSelector !== undefined })), resource);
  }

  async *watch(resource: ResourceType, options: WatchOptions): AsyncGenerator<WatchEvent, void, undefined> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, initialEvents, bookmarks = true, timeoutSeconds, onOpen } = options;
    const { signal } = options;
    const where = { labelSelector, fieldSelector, resourceVersion: resourceVersion === "" ? undefined : resourceVersion };
    const initial = initialEvents === true && { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
    const query = { watch: true, ...where, ...initial, allowWatchBookmarks: bookmarks, timeoutSeconds };
    const path = resourcePath(resource, { namespace }) + queryString(query);
    const body = await this.#open(path, signal);
    if (body === undefined) return;
    onOpen?.();
    yield* readWatch({ ...this.#limits, body, resource, request: `watch ${path}`, clock: this.#clock, signal, initialEvents });
  }

  /** Opens the stream of a watch; undefined if `signal` aborted before. */
  async #open(path: string, signal: AbortSignal): Promise<Stream | undefined> {
    if (signal.aborted) return undefined;
    this.#failIfClosed();
    try {
      const opened = await this.#sender.open({ method: "GET", path, signal });
      if (isAnswer(opened)) throw errorFromAnswer(opened, this.#clock.now());
      return opened;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  async create(resource: ResourceType, object: KubeObject): Promise<KubeObject> {
    const path = resourcePath(resource, { namespace: object.metadata.namespace });
    const request: ApiRequest = { method: "POST", path, body: JSON.stringify(object) };
    // A review changes nothing, so a process that is not the leader may send it.
    if (groupOf(resource) === "authorization.k8s.io")
      return objectFromAnswer(this.#checked(await this.#send({ ...request, asks: true })), { resource });
    return this.#write(request, { resource, key: object.metadata.name === undefined ? undefined : keyOf(object) });
  }

  async update(resource: ResourceType, object: KubeObject): Promise<KubeObject> {
    // Without resourceVersion, the API server would overwrite any state, and create the object if it does not exist.
    assert(
      object.metadata.resourceVersion,
      `Cannot update ${resource.plural} ${JSON.stringify(object.metadata.name)}: metadata.resourceVersion is missing`,
    );
    const key = keyOf(object);
    return this.#write({ method: "PUT", path: resourcePath(resource, key), body: JSON.stringify(object) }, { resource, key });
  }

  async patch(resource: ResourceType, key: ObjectKey, type: PatchType, body: unknown): Promise<KubeObject> {
    const path = resourcePath(resource, key);
    const request: ApiRequest = { method: "PATCH", path, body: JSON.stringify(body), contentType: PATCH_CONTENT_TYPE[type] };
    return this.#write(request, { resource, key });
  }

  async delete(resource: ResourceType, key: ObjectKey, preconditions?: DeletePreconditions): Promise<"deleted" | "absent"> {
    const body = JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", preconditions });
    const answer = await this.#sendWrite({ method: "DELETE", path: resourcePath(resource, key), body });
    if (isAbsent(answer)) return "absent";
    checkDeleted(this.#checked(answer), { resource, key });
    return "deleted";
  }

  async close(): Promise<void> {
    const reason = closed();
    this.#closing.abort(reason);
    await this.#transport.close(reason);
  }

  async #write(request: ApiRequest, expected: Expected): Promise<KubeObject> {
    return objectFromAnswer(this.#checked(await this.#sendWrite(request)), expected);
  }

  async #sendWrite(request: ApiRequest): Promise<Answer> {
    const waitMs = this.#takeWrite();
    if (waitMs > 0) await delay(this.#clock, waitMs, this.#closing.signal);
    return this.#send(request);
  }

  #send(request: ApiRequest): Promise<Answer> {
    this.#failIfClosed();
    return this.#sender.call(request);
  }

  #checked(answer: Answer): Answer {
    if (isSuccess(answer)) return answer;
    throw errorFromAnswer(answer, this.#clock.now());
  }

  #failIfClosed(): void {
    if (this.#closing.signal.aborted) throw closed();
  }
}

function guard(mayWrite: () => boolean): () => void {
  return () => {
    if (!mayWrite()) throw new EngineError("LEADERSHIP_LOST", "Cannot write: this process is not the leader");
  };
}

function closed(): EngineError {
  return new EngineError("API_UNAVAILABLE", "The client is closed");
}

/** Distinguishes an absent object from an absent resource: for an unknown path, the server responds in plain text. */
function isAbsent(answer: Answer): boolean {
  return answer.status === 404 && statusInAnswer(answer)?.reason === "NotFound";
}

function listFromAnswer(answer: Answer, { apiVersion, kind }: ResourceType): ObjectList {
  const body = parseAnswer(answer);
  const metadata = isRecord(body["metadata"]) ? body["metadata"] : {};
  // Go encodes an empty list as null.
  const items = body["items"] === null ? [] : body["items"];
  const { resourceVersion, continue: next } = metadata;
  if (!Array.isArray(items) || typeof resourceVersion !== "string" || body["kind"] !== `${kind}List`) {
    throw new EngineError(
      "API_UNAVAILABLE",
      `Cannot read the response to ${answer.request}: expected a complete ${kind}List, found kind ${JSON.stringify(body["kind"])}`,
    );
  }
  // Items of a list have neither apiVersion nor kind. The objects were just parsed and are not shared yet.
  for (const item of items as unknown[]) {
    if (!isRecord(item) || !isRecord(item["metadata"]) || typeof item["metadata"]["name"] !== "string")
      throw new EngineError("API_UNAVAILABLE", `Cannot read the response to ${answer.request}: an item is not an object`);
    Object.assign(item, { apiVersion, kind });
  }
  const more = typeof next === "string" && next !== "" && { continue: next };
  return { items: items as KubeObject[], resourceVersion, ...more, textLength: answer.text.length };
}

function onceEach(report: (text: string) => void): (text: string) => void {
  const reported = new Set<string>();
  return (text) => {
    if (reported.has(text) || reported.size >= WARNINGS_MAX) return;
    reported.add(text);
    report(text);
  };
}
