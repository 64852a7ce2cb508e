/**
 * Counts requests as kube-apiserver does, under the same names. Every label has a closed set of values: a path counts under its kind only
 * if the server has that kind. Label sets are created once, so that a request costs a few look-ups and no memory.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import type { Clock } from "../base/clock.ts";
import type { MetricLabels, Metrics } from "../base/metrics.ts";
import { groupOf } from "../kube/object/resource.ts";
import type { Attributes } from "./access/authorization.ts";
import type { ResourceDefinition } from "./types/resource-definition.ts";

/** Metrics of one verb at one place. */
interface Series {
  readonly labels: MetricLabels;
  /** The labels for each HTTP status of a response. */
  readonly byCode: Map<number, MetricLabels>;
  /** Number of open watches. */
  open: number;
}

/** The target of requests: a kind, a subresource of its objects, or a path that is not a resource. */
interface Place {
  readonly labels: Readonly<Record<"group" | "version" | "resource" | "subresource", string>>;
  readonly byVerb: Map<string, Series>;
}

/** The metrics of the requests of one server. */
export interface RequestMetrics extends Omit<RequestMetricsOptions, "definitions"> {
  readonly placeOf: (attributes: Attributes | undefined) => Place;
  /** The series in which watches were counted. */
  readonly watches: Set<Series>;
}

/** Dependencies of the request metrics. */
export interface RequestMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Pick<Clock, "monotonic">;
  readonly definitions: readonly ResourceDefinition[];
}

/** The status of a request whose client disconnected before the response. */
const CLIENT_LEFT = 499;
const APPLY_TYPE = "application/apply-patch+yaml";

/** Values of the label `verb`, by the verb of the request. Source: `CanonicalVerb` and `cleanVerb` of kube-apiserver. */
const VERBS: ReadonlyMap<string, string> = new Map([
  ["get", "GET"],
  ["head", "GET"],
  ["list", "LIST"],
  ["watch", "WATCH"],
  ["create", "POST"],
  ["post", "POST"],
  ["update", "PUT"],
  ["put", "PUT"],
  ["patch", "PATCH"],
  ["delete", "DELETE"],
  ["deletecollection", "DELETECOLLECTION"],
]);

/** A path that is not a resource counts under its first part, if that is one of these. */
const PATHS = ["/api", "/apis", "/auth", "/healthz", "/livez", "/openapi", "/readyz", "/version", "/.well-known"];

/** Creates the metrics of requests. */
export function createRequestMetrics({ metrics, clock, definitions }: RequestMetricsOptions): RequestMetrics {
  const placeOf = createPlaces(definitions);
  const watches = new Set<Series>();
  metrics.beforeRead(() => {
    for (const { labels, open } of watches) metrics.gauge("apiserver_longrunning_requests", open, labels);
  });
  return { metrics, clock, placeOf, watches };
}

/** One request, from its arrival to its response. */
export class CountedRequest {
  /** Attributes of the request; undefined until its path is parsed. */
  attributes: Attributes | undefined;
  readonly #counting: RequestMetrics;
  readonly #request: Pick<IncomingMessage, "headers">;
  readonly #began: number;
  #watch: Series | undefined;
  #left = false;

  constructor(counting: RequestMetrics, request: Pick<IncomingMessage, "headers">) {
    this.#counting = counting;
    this.#request = request;
    this.#began = counting.clock.monotonic();
  }

  /** Counts the request as an open watch until `end`. */
  watch(): void {
    this.#watch = this.#series();
    this.#watch.open += 1;
    this.#counting.watches.add(this.#watch);
  }

  /** Records that the client disconnected before the response. */
  left(): void {
    this.#left = true;
  }

  /** Counts the request when the response with this status has been sent, or the watch has ended. */
  end(status: number): void {
    const { metrics, clock } = this.#counting;
    const series = this.#watch ?? this.#series();
    if (this.#watch !== undefined) this.#watch.open -= 1;
    const code = this.#left ? CLIENT_LEFT : status;
    let labels = series.byCode.get(code);
    if (labels === undefined) series.byCode.set(code, (labels = { ...series.labels, code: String(code) }));
    metrics.count("apiserver_request_total", labels);
    // The client determines the duration of a watch.
    if (series.labels["verb"] === "WATCH") return;
    metrics.observe("apiserver_request_duration_seconds", (clock.monotonic() - this.#began) / 1_000, series.labels);
  }

  #series(): Series {
    const { attributes } = this;
    const applies = attributes?.verb === "patch" && this.#request.headers["content-type"]?.startsWith(APPLY_TYPE) === true;
    const verb = applies ? "APPLY" : (VERBS.get(attributes?.verb ?? "") ?? "other");
    const { labels, byVerb } = this.#counting.placeOf(attributes);
    let series = byVerb.get(verb);
    if (series === undefined) byVerb.set(verb, (series = { labels: { verb, ...labels }, byCode: new Map(), open: 0 }));
    return series;
  }
}

/** Returns the function that finds the place of a request. All unknown places share one. */
function createPlaces(definitions: readonly ResourceDefinition[]): (attributes: Attributes | undefined) => Place {
  const place = (group = "", version = "", resource = "", subresource = ""): Place => {
    return { labels: { group, version, resource, subresource }, byVerb: new Map() };
  };
  const other = place();
  const paths = new Map(PATHS.map((path) => [path, place("", "", "", path)]));
  // Few plurals occur in more than one group.
  const kinds = new Map<string, ReadonlyMap<string, Place>[]>();
  for (const { type, strategy, computed, views } of definitions) {
    const { apiVersion, plural } = type;
    const parts = ["", ...Object.keys({ ...strategy.subresources, ...computed, ...views })];
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const places = new Map(parts.map((part) => [part, place(groupOf(type), version, plural, part)]));
    kinds.set(plural, [...(kinds.get(plural) ?? []), places]);
  }
  return (attributes) => {
    if (attributes === undefined) return other;
    if ("path" in attributes) return paths.get(attributes.path.slice(0, endOfPart(attributes.path))) ?? other;
    for (const places of kinds.get(attributes.resource) ?? []) {
      const found = places.get(attributes.subresource);
      if (found?.labels.group === attributes.group) return found;
    }
    return other;
  };
}

function endOfPart(path: string): number {
  const slash = path.indexOf("/", 1);
  return slash < 0 ? path.length : slash;
}
