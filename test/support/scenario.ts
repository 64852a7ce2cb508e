/**
 * Stories: the contract told by example. Each is one file `fixtures/scenarios/<category>/<story>.yaml`; `world.ts` plays it
 * through the whole engine on two embedded clusters, once with events that arrive at once and once with late ones.
 *
 * ```yaml
 * story: A host edit comes back through reverseExpression.     # the title of the test
 * vcluster: { name: blue, namespace: vc-blue }                  # this is the default
 * config: { sync: { toHost: { services: { enabled: false } } } } # vcluster.yaml; default {}
 * patches: [{ path: metadata.annotations.team, expression: … }] # short for config.sync.toHost.endpoints.patches
 * settings: { onError: skip-patch }                             # settings.yaml; default {}
 * confirmDeletes: 3                                             # --confirm-deletes; default 0
 * adopt: vcluster.loft.sh/                                      # --adopt; default none
 * services: managed                                             # or external; managed is the default
 * tenant:                                                       # what is there before the engine starts; its namespaces are made
 *   Endpoints shop/web: { annotations: { team: shop }, subsets: [{ addresses: [{ ip: 10.0.0.1 }] }] }
 * host:                                                         # the same; the namespace of the virtual cluster is there
 *   Namespace customer-shop: {}
 * steps:                                                        # what happens then; before each, and at the end, all comes to rest
 *   - tenant: { Endpoints shop/web: { annotations: { team: ops } } }
 *   - host: { Endpoints vc-blue/web-x-shop-x-blue: null }
 *   - wait: 60                                                  # seconds
 *   - restart: { patches: [], meanwhile: [{ host: … }] }        # the engine stops, other steps happen, it starts again
 *   - reload: { patches: [] }                                   # the engine goes on with another configuration
 *   - lost: { meanwhile: [{ host: … }] }                        # it loses both clusters and their history while other steps happen
 * want:                                                         # what both clusters hold at the end
 *   host: { Endpoints vc-blue/web-x-shop-x-blue: { copyOf: shop/web, annotations: { team: blue-ops } } }
 *   writes: { host: 1, tenant: 0 }
 * ```
 *
 * An object stands under its kind, namespace and name; `labels`, `annotations` and `finalizers` stand beside its body. In a step
 * it is a JSON merge patch, which makes what is not there; `null` deletes.
 *
 * `want` is complete: these Services and Endpoints exist and no others (default/kubernetes aside), with these labels,
 * annotations, finalizers, owners and subsets and no others. Subsets are compared as the API server stores them; of the `spec` of
 * a Service only what is named counts, and `null` means absent.
 *
 * EndpointSlices count where `config` has a section for them or `want` names one: then all of them are wanted, those included
 * that a cluster's own controllers make. The generated part of a name is written as a star, in `web-*` and in the names of its
 * copies. `addressType` is IPv4 if nothing else is said, endpoints and ports are sets, and markers that a mirrored slice inherits
 * do not show.
 *
 * Secrets and ConfigMaps count where the story speaks of one. Of a Secret `stringData` shows its data as texts; `data` is base64.
 *
 * - `copyOf` in place of all markers: a copy of this object of the other cluster, by its uid; "shop/web, an earlier one" by another. Without it
 *   markers count as any other key. What the engine notes on tenant objects about host edits (`flowed`) does not show.
 * - `owner`: kind and name of the only owner. Without it there is none.
 * - `tenant` left out: the engine has written nothing there.
 * - `writes`: successful writes since the last step began, Events aside. Left out: any number.
 * - `restartWrites`: writes of another engine that starts at the end. Default none on either side.
 * - `callsAtRest`: calls within half a minute in which nothing happens, refused ones included. Default none on either side.
 * - `notes`: codes that the status of an object holds at the end, perhaps beside others.
 * - `events`: reasons of all Events in the tenant cluster. Default none. One with a question mark may also be missing.
 *
 * @module
 */
import { load } from "js-yaml";

/** An object as stories write it; `null` is an object that must not be there. */
export type StoryObject = Readonly<Record<string, unknown>> | null;
/** Objects by `Kind namespace/name`. */
export type StoryObjects = Readonly<Record<string, StoryObject>>;

/** Options of an engine. */
export interface StoryEngine {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly patches?: readonly unknown[];
  readonly settings?: Readonly<Record<string, unknown>>;
  /** `--confirm-deletes`. */
  readonly confirmDeletes?: number;
  /** `--adopt`. */
  readonly adopt?: string;
}

/** Writes by cluster. */
export interface StoryWrites {
  readonly host: number;
  readonly tenant: number;
}

/** One thing that happens; exactly one field is there. */
export interface StoryStep {
  readonly tenant?: StoryObjects;
  readonly host?: StoryObjects;
  /** Seconds. */
  readonly wait?: number;
  /** Omitted parts stay as they were. */
  readonly restart?: StoryEngine & { readonly meanwhile?: readonly StoryStep[] };
  readonly lost?: { readonly meanwhile: readonly StoryStep[] };
  /** The running engine gets this configuration. What is left out stays as it was. */
  readonly reload?: Pick<StoryEngine, "config" | "patches" | "settings">;
}

/** Expected final state. */
export interface StoryWant {
  readonly tenant?: StoryObjects;
  readonly host: StoryObjects;
  readonly writes?: StoryWrites;
  readonly restartWrites?: StoryWrites;
  readonly callsAtRest?: StoryWrites;
  readonly notes?: Readonly<Record<string, readonly string[]>>;
  readonly events?: Readonly<Record<string, readonly string[]>>;
}

/** A story; see the module comment. */
export interface Story extends StoryEngine {
  readonly story: string;
  readonly vcluster: { readonly name: string; readonly namespace: string };
  readonly services: "managed" | "external";
  readonly tenant: StoryObjects;
  readonly host: StoryObjects;
  readonly steps: readonly StoryStep[];
  readonly want: StoryWant;
}

const ENGINE = ["config", "patches", "settings", "confirmDeletes", "adopt"];
const STORY = ["story", "vcluster", "services", "tenant", "host", "steps", "want", ...ENGINE];
const WANT = ["tenant", "host", "writes", "restartWrites", "callsAtRest", "notes", "events"];
const STEP = ["tenant", "host", "wait", "restart", "lost", "reload"];

/** Reads a story, with defaults filled in. An unread field is an error, so that no expectation is lost to a typo. */
export function parseStory(text: string): Story {
  const story = load(text) as Partial<Story>;
  onlyFields("the story", story, STORY);
  if (story.story === undefined || story.want?.host === undefined) throw new Error("A story needs a title and want.host");
  onlyFields("want", story.want, WANT);
  const steps = story.steps ?? [];
  steps.forEach(checkStep);
  const defaults = { vcluster: { name: "blue", namespace: "vc-blue" }, services: "managed" as const, tenant: {}, host: {} };
  return { ...defaults, ...story, story: story.story, want: story.want, steps };
}

function checkStep(step: StoryStep): void {
  onlyFields("a step", step, STEP);
  if (Object.keys(step).length !== 1) throw new Error(`A step is one thing, found ${Object.keys(step).join(" and ")}`);
  onlyFields("restart", step.restart ?? {}, [...ENGINE, "meanwhile"]);
  onlyFields("reload", step.reload ?? {}, ["config", "patches", "settings"]);
  onlyFields("lost", step.lost ?? {}, ["meanwhile"]);
  (step.restart ?? step.lost)?.meanwhile?.forEach(checkStep);
}

function onlyFields(what: string, value: object, known: readonly string[]): void {
  const unknown = Object.keys(value).filter((field) => !known.includes(field));
  if (unknown.length > 0) throw new Error(`Unknown field of ${what}: ${unknown.join(", ")}`);
}
