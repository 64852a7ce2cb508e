import { reportFaults, type BodyOptions } from "../verbs/body.ts";
import { isEngineError } from "../../base/errors.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import type { Status } from "../../kube/object/status.ts";
import type { Answering } from "./answering.ts";
import type { Exchange } from "./exchange.ts";
import type { PrintedObject, Printers } from "./printers.ts";
import {
  DELETE_OPTIONS,
  readDeleteParameters,
  readListRequest,
  readWatchRequest,
  readPatchParameters,
  readWriteParameters,
  type WriteParameters,
} from "./query.ts";
import type { ObjectSchema } from "../../schema/schema.ts";
import type { Registry } from "../verbs/registry.ts";
import { repeatedFields } from "./body/repeated-fields.ts";
import { checkValues, mediaTypeOf, parseBody, parseJsonBody, parseYaml, readBytes, type ParsedBody } from "./body/request-body.ts";
import type { ResourceTarget } from "./request-target.ts";
import { ALL_VERBS, type ResourceDefinition, type Verb } from "../types/resource-definition.ts";
import { badRequest, deletedStatus, methodNotAllowed, noSuchPath, unsupportedMediaType, patchRefused, statusOf } from "../types/status.ts";
import { PATCH_TYPES, type PatchKind, type PatchRequestOptions } from "../verbs/write/patch.ts";
import type { SubresourceRequest } from "../verbs/subresource.ts";
import type { Matches } from "../types/selection.ts";
import type { UserInfo } from "../types/user-info.ts";
import type { WatchQueue, WatchRecord } from "../verbs/watch/watch-queue.ts";
import { streamError, streamWatch } from "./answer/watch-stream.ts";

/** Dependencies of the resource routes. */
export interface ResourceRoutesOptions {
  readonly registry: Registry;
  readonly answering: Answering;
  readonly printers: Printers;
  /** Maximum size of a request body. */
  readonly bodyBytesMax: number;
  /** Maximum number of fields and items in a request body. */
  readonly bodyValuesMax: number;
  /** See `ApiServerOptions`. */
  readonly visible?: Visible | undefined;
  /** See `ApiServerOptions`. */
  readonly visibleSince?: VisibleSince | undefined;
  /** See `ApiServerOptions`. */
  readonly onWatch?: OnWatch | undefined;
}

/** Returns the test for the objects of a kind that are visible to a user; undefined if all are visible. */
export type Visible = (user: UserInfo, definition: ResourceDefinition) => Matches | undefined;

/** Returns `WatchRequest.visibleSince` for a user and the owner of the credentials; undefined if their permissions never change. */
export type VisibleSince = (
  user: UserInfo,
  caller: UserInfo,
  definition: ResourceDefinition,
) => ((revision: number) => Promise<boolean>) | undefined;

/**
 * Called for each watch before it opens. `end` ends the watch at once: with an error if a Status is given, and gracefully otherwise. The
 * returned function is called when the watch has ended, no matter which side ended it.
 *
 * @param caller The owner of the credentials that opened the watch; the same as the user unless impersonated.
 */
export type OnWatch = (user: UserInfo, end: (status?: Status) => void, caller: UserInfo) => () => void;

/** A request whose resource was found. */
interface Routed {
  readonly exchange: Exchange;
  readonly target: ResourceTarget;
  readonly definition: ResourceDefinition;
  readonly key: ObjectKey;
}

/** The action of a method on one kind of target. */
interface Route {
  readonly verb: Verb;
  readonly handle: (this: ResourceRoutes, routed: Routed) => Promise<void>;
}

/** Routes by method. A watch, which is a GET in HTTP, has the method WATCH here. */
type Routes = ReadonlyMap<string, Route>;

/** Serves the verbs over HTTP: maps method and path to a call of the registry, and the result to a response. */
export class ResourceRoutes {
  readonly #options: ResourceRoutesOptions;
  readonly #ofObject: Routes = new Map<string, Route>([
    ["GET", { verb: "get", handle: this.#get }],
    ["PUT", { verb: "update", handle: this.#put }],
    ["PATCH", { verb: "patch", handle: this.#patch }],
  ]);
  readonly #following: readonly [string, Route] = ["WATCH", { verb: "watch", handle: this.#watch }];
  readonly #ofWhole: Routes = new Map([...this.#ofObject, this.#following, ["DELETE", { verb: "delete", handle: this.#delete }]]);
  readonly #ofAllNamespaces: Routes = new Map([["GET", { verb: "list", handle: this.#list }], this.#following]);
  readonly #ofCollection: Routes = new Map<string, Route>([
    ...this.#ofAllNamespaces,
    ["POST", { verb: "create", handle: this.#post }],
    ["DELETE", { verb: "deletecollection", handle: this.#deleteCollection }],
  ]);

  constructor(options: ResourceRoutesOptions) {
    this.#options = options;
  }

  /** Handles a request for a resource. `method` is the HTTP method, or WATCH for a GET that watches. */
  answer(exchange: Exchange, target: ResourceTarget, method = exchange.method): Promise<void> {
    const routed = this.#find(exchange, target);
    if (routed.definition.deprecation !== undefined) exchange.warn(routed.definition.deprecation);
    const { verbs = ALL_VERBS } = routed.definition;
    const routes = this.#routes(routed);
    const route = routes.get(method);
    if (route === undefined || !verbs.includes(route.verb)) {
      const served = [...routes].filter(([, { verb }]) => verbs.includes(verb));
      const allowed = served.map(([name]) => name).filter((name) => name !== "WATCH");
      exchange.response.setHeader("Allow", allowed.join(", "));
      throw methodNotAllowed();
    }
    if (method !== "WATCH") this.#options.printers.check(exchange);
    return route.handle.call(this, routed);
  }

  #find(exchange: Exchange, target: ResourceTarget): Routed {
    const definition = this.#options.registry.find(target.apiVersion, target.plural);
    if (definition === undefined) throw noSuchPath();
    const { type, strategy } = definition;
    if (!type.namespaced && target.namespace !== "") throw noSuchPath();
    if (type.namespaced && target.namespace === "" && target.name !== "") throw noSuchPath();
    const parts = [strategy.subresources, definition.computed, definition.views];
    const { subresource } = target;
    if (subresource !== undefined && !parts.some((part) => Object.hasOwn(part ?? {}, subresource))) throw noSuchPath();
    return { exchange, target, definition, key: { namespace: target.namespace, name: target.name } };
  }

  /** Returns the routes of a target: a subresource, an object, or a collection in one namespace or in all namespaces. */
  #routes({ target, definition }: Routed): Routes {
    const { subresource } = target;
    if (subresource !== undefined && Object.hasOwn(definition.computed ?? {}, subresource)) {
      return new Map([["POST", { verb: "create", handle: (routed) => this.#compute(routed, subresource) }]]);
    }
    if (subresource !== undefined && Object.hasOwn(definition.views ?? {}, subresource)) return this.#viewRoutes(subresource);
    if (subresource !== undefined) return this.#ofObject;
    if (target.name !== "") return this.#ofWhole;
    return definition.type.namespaced && target.namespace === "" ? this.#ofAllNamespaces : this.#ofCollection;
  }

  #viewRoutes(part: string): Routes {
    const answer = async (
      { exchange, definition, key }: Routed,
      request: Pick<SubresourceRequest, "write"> & { readonly options: PatchRequestOptions },
    ) => {
      const object = await this.#options.registry.view(definition.type, { key, part, ...request }, request.options);
      await this.#send(exchange, { definition: definition.views![part]!.definition, code: 200, object });
    };
    const replace = async (routed: Routed) => {
      const { exchange, target, definition } = routed;
      const options = this.#writer(exchange, target, readWriteParameters(exchange.query, "UpdateOptions"));
      const body = await this.#body(exchange, definition.views![part]!.definition, options);
      return answer(routed, { write: { kind: "replace", body }, options });
    };
    const change = async (routed: Routed) => {
      const { exchange, target } = routed;
      const options = this.#writer(exchange, target, readPatchParameters(exchange.query));
      return answer(routed, { write: await this.#patchBody(exchange), options });
    };
    return new Map<string, Route>([
      ["GET", { verb: "get", handle: (routed) => answer(routed, { options: { judge: routed.exchange.judge } }) }],
      ["PUT", { verb: "update", handle: replace }],
      ["PATCH", { verb: "patch", handle: change }],
    ]);
  }

  async #get({ exchange, definition, key }: Routed): Promise<void> {
    const resourceVersion = exchange.query.size === 0 ? undefined : (exchange.query.get("resourceVersion") ?? undefined);
    const object = await this.#options.registry.get(definition.type, key, { resourceVersion, judge: exchange.judge });
    await this.#send(exchange, { definition, code: 200, object });
  }

  async #list(routed: Routed): Promise<void> {
    const { exchange, target, definition } = routed;
    const scope = target.namespace === "" ? {} : { namespace: target.namespace };
    const visible = this.#options.visible?.(exchange.user, definition);
    const page = await this.#options.registry.list(definition.type, { ...readListRequest(exchange.query), ...scope, visible });
    const user = exchange.judge();
    const visibleNow = this.#options.visible?.(user, definition);
    // Permissions were revoked during the read. The continue token and the count of a filtered page would still reveal objects.
    if (visibleNow !== undefined && (visible === undefined || !page.items.every(visibleNow))) return this.#list(as(routed, user));
    await this.#options.printers.list(exchange, definition, page);
  }

  async #watch(routed: Routed): Promise<void> {
    const { exchange, target, definition } = routed;
    const request = readWatchRequest(exchange.query);
    const named = target.name === "" ? request.fieldSelector : joined(request.fieldSelector, `metadata.name=${target.name}`);
    const scope = { ...(target.namespace !== "" && { namespace: target.namespace }), ...(named !== undefined && { fieldSelector: named }) };
    const toLine = this.#options.printers.lines(exchange, definition);
    const { user, caller } = exchange;
    const visible = this.#options.visible?.(user, definition);
    const visibleSince = this.#options.visibleSince?.(user, caller, definition);
    const opening = new Opening();
    // Before the objects are selected, so that no change of permissions meanwhile is missed.
    const over = this.#options.onWatch?.(user, opening.end, caller);
    try {
      const queue = await this.#options.registry.watch(definition.type, { ...request, ...scope, visible, visibleSince });
      const now = this.#judgeAgain(exchange, queue);
      if (visible === undefined && this.#options.visible?.(now, definition) !== undefined) {
        queue.end();
        return await this.#watch(as(routed, now));
      }
      opening.opened(queue);
      await this.#stream(exchange, queue, toLine);
    } catch (error) {
      const status = statusOf(error);
      // A start before the history is reported inside the stream, where clients look first.
      if (!isEngineError(error, "API_EXPIRED") || status === undefined) throw error;
      streamError(exchange.response, status);
    } finally {
      over?.();
    }
  }

  /** Authorizes the caller again after the watch was created, because no other check precedes the events. */
  #judgeAgain(exchange: Exchange, queue: WatchQueue): UserInfo {
    try {
      return exchange.judge();
    } catch (error) {
      queue.end();
      throw error;
    }
  }

  async #stream({ response, audit }: Exchange, queue: WatchQueue, toLine: (record: WatchRecord) => Buffer): Promise<void> {
    try {
      audit?.responseStarted(200);
      await streamWatch(response, queue, { toLine, drained: this.#options.answering.drained });
    } finally {
      queue.end();
    }
  }

  async #post({ exchange, target, definition }: Routed): Promise<void> {
    const options = this.#writer(exchange, target, readWriteParameters(exchange.query, "CreateOptions"));
    const body = await this.#body(exchange, definition, options);
    const object = await this.#options.registry.create(definition.type, target.namespace, body, options);
    const paused = exchange.body.pause();
    if (paused !== undefined) await paused;
    await this.#send(exchange, { definition, code: 201, object });
  }

  async #compute({ exchange, definition, key }: Routed, part: string): Promise<void> {
    const { definition: computed } = definition.computed![part]!;
    const options = { ...readWriteParameters(exchange.query, "CreateOptions"), warn: exchange.warn, judge: exchange.judge };
    const body = await this.#body(exchange, computed, options);
    const object = await this.#options.registry.compute(definition.type, { key, part, body }, options);
    await this.#send(exchange, { definition: computed, code: 201, object });
  }

  async #put({ exchange, target, definition, key }: Routed): Promise<void> {
    const options = this.#writer(exchange, target, readWriteParameters(exchange.query, "UpdateOptions"));
    const body = await this.#body(exchange, definition, options);
    const { object, created } = await this.#options.registry.update(definition.type, key, body, options);
    await exchange.body.pause();
    await this.#send(exchange, { definition, code: created ? 201 : 200, object });
  }

  async #patch({ exchange, target, definition, key }: Routed): Promise<void> {
    const options = this.#writer(exchange, target, readPatchParameters(exchange.query));
    const { kind, body, json } = await this.#patchBody(exchange);
    this.#reportRepeated(definition, json, { ...options, strictError: patchRefused });
    const { object, created } = await this.#options.registry.patch(definition.type, key, kind, body, options);
    await exchange.body.pause();
    await this.#send(exchange, { definition, code: created ? 201 : 200, object });
  }

  async #patchBody(exchange: Exchange) {
    const kind = patchKindOf(mediaTypeOf(exchange.request));
    const text = (await this.#bytes(exchange)).toString();
    const { data, json }: ParsedBody = kind === "apply" ? { data: parseYaml(text, this.#options.bodyValuesMax) } : parseJsonBody(text);
    exchange.audit?.requestObject(data);
    await exchange.body.pause();
    return { kind, body: data, json };
  }

  async #delete({ exchange, definition, key }: Routed): Promise<void> {
    const { type, strategy } = definition;
    const options = await this.#deleteOptions(exchange);
    const { object, gone } = await this.#options.registry.delete(type, key, options);
    // The code 202 for an unfinished deletion is sent only to clients that use the deprecated `orphanDependents: false`.
    const code = !gone && options.orphanDependents === false ? 202 : 200;
    if (!gone || strategy.returnsDeleted === true) return this.#send(exchange, { definition, code, object });
    this.#options.answering.object(exchange, 200, deletedStatus(type, key.name, object.metadata.uid));
  }

  async #deleteCollection({ exchange, target, definition }: Routed): Promise<void> {
    const scope = target.namespace === "" ? {} : { namespace: target.namespace };
    const options = await this.#deleteOptions(exchange);
    const visible = this.#options.visible?.(exchange.user, definition);
    const request = { ...readListRequest(exchange.query), ...scope, visible };
    const items = await this.#options.registry.deleteCollection(definition.type, request, options);
    exchange.body.done();
    await this.#options.printers.list(exchange, definition, { items });
  }

  /** Sends an object. The client may read slowly, so the next large body does not wait for that. */
  #send(exchange: Exchange, printed: PrintedObject): Promise<void> | undefined {
    exchange.body.done();
    return this.#options.printers.object(exchange, printed);
  }

  async #deleteOptions(exchange: Exchange) {
    const bytes = await this.#bytes(exchange);
    const data = bytes.length === 0 ? undefined : this.#parse(bytes, mediaTypeOf(exchange.request), DELETE_OPTIONS).data;
    if (data !== undefined) exchange.audit?.requestObject(data);
    return { ...readDeleteParameters(exchange.query, data), user: exchange.user, judge: exchange.judge };
  }

  #writer<Parameters extends WriteParameters>(exchange: Exchange, { subresource }: ResourceTarget, parameters: Parameters) {
    const { user, judge, warn, request, body } = exchange;
    return { ...parameters, user, judge, warn, pause: body.pause, userAgent: request.headers["user-agent"] ?? "", subresource };
  }

  async #body(exchange: Exchange, definition: ResourceDefinition, options: BodyOptions): Promise<unknown> {
    const mediaType = mediaTypeOf(exchange.request);
    const bytes = await this.#bytes(exchange);
    const { data, json } = this.#parse(bytes, mediaType, definition.shape);
    if (data === undefined) throw badRequest("the body of the request is empty");
    exchange.audit?.requestObject(data);
    this.#reportRepeated(definition, json, options);
    const paused = exchange.body.pause();
    if (paused !== undefined) await paused;
    return data;
  }

  /** Reports fields that occur twice in an object of a JSON text, as `fieldValidation` requires. */
  #reportRepeated(definition: ResourceDefinition, json: string | undefined, options: BodyOptions): void {
    if (json === undefined || options.fieldValidation === "Ignore") return;
    const texts = repeatedFields(json).map((path) => `duplicate field ${JSON.stringify(path)}`);
    reportFaults(definition, texts, options);
  }

  #parse(bytes: Buffer, mediaType: string | undefined, shape: ObjectSchema): ParsedBody {
    return parseBody(bytes, mediaType, { shape, valuesMax: this.#options.bodyValuesMax });
  }

  async #bytes({ request, body }: Exchange): Promise<Buffer> {
    const { bodyBytesMax, bodyValuesMax } = this.#options;
    const bytes = await readBytes(request, bodyBytesMax, body.claim);
    checkValues(bytes, mediaTypeOf(request), bodyValuesMax);
    const begun = body.begin();
    if (begun !== undefined) await begun;
    return bytes;
  }
}

/** A watch that may be ended before it is open. */
class Opening {
  #queue: WatchQueue | undefined;
  #ended: { readonly status: Status | undefined } | undefined;

  readonly end = (status?: Status): void => {
    this.#ended ??= { status };
    this.#queue?.cut(status && { type: "ERROR", object: status });
  };

  opened(queue: WatchQueue): void {
    this.#queue = queue;
    if (this.#ended !== undefined) this.end(this.#ended.status);
  }
}

/** Returns the same request of a user whose groups may have changed. */
function as(routed: Routed, user: UserInfo): Routed {
  return { ...routed, exchange: { ...routed.exchange, user } };
}

function joined(selector: string | undefined, more: string): string {
  return selector === undefined ? more : `${selector},${more}`;
}

function patchKindOf(mediaType: string | undefined): PatchKind {
  const kinds: Readonly<Record<string, PatchKind>> = PATCH_TYPES;
  if (mediaType !== undefined && Object.hasOwn(kinds, mediaType)) return kinds[mediaType]!;
  throw unsupportedMediaType(Object.keys(kinds));
}
