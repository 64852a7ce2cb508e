/** Readers of the host's slices, as kube-proxy and CoreDNS are: what they see of each Service, and what they miss. */
import { setTimeout as sleep } from "node:timers/promises";
import { pathOf, SLICES, type Api, type Thing } from "../outside/api.ts";
import { hostPlace } from "../outside/names.ts";
import { backend, NAMESPACE, type Shop } from "./shop.ts";

const LOOK_MS = 15;
/** Share of looks that may have no answer: an API server puts readers off while it is busy, and they keep what they have seen. */
const UNANSWERED_MAX = 0.1;
/** Limit of waiting until both sides agree; what is still different then is a violation. */
const SETTLE_MS = 60_000;

/** A Service as readers see it. */
interface View {
  readonly backends: Set<string>;
  /** Backends that are shown once more. */
  doubles: number;
  readonly slices: string[];
}

/** Host name of a Service → what readers see of it. */
type Views = ReadonlyMap<string, View>;

/** Kubernetes writes null for a list of nothing. */
interface Slice extends Thing {
  readonly endpoints?: null | readonly { readonly addresses: readonly string[]; readonly conditions?: { readonly ready?: boolean } }[];
  readonly ports?: null | readonly { readonly port?: number; readonly name?: string }[];
}

/** What one step may do beside the rest. */
export interface Limits {
  /** A Service that is not looked at while the step runs. */
  readonly except?: string;
  /** Nor when it has come to rest. */
  readonly exceptAtRest?: string;
  /** The host's API server is down for a while: readers keep what they have seen last. */
  readonly hostIsDown?: boolean;
}

/** What was seen in one step. */
export interface Seen {
  readonly looks: number;
  readonly unanswered: number;
  /** Why the last of those had no answer. */
  readonly reason: string;
  /** Violations, as one line each. */
  readonly problems: readonly string[];
  readonly doubledMs: number;
  readonly doubledService: string;
}

/** How long something lasted, at each time that it happened. */
class Spells {
  longestMs = 0;
  longestOf = "";
  readonly #since = new Map<string, number>();

  /** Notes whether it is so, by what is seen at this time. */
  note(service: string, isSo: boolean, at: number): void {
    const since = this.#since.get(service) ?? at;
    if (isSo) this.#since.set(service, since);
    else this.#since.delete(service);
    if (at - since <= this.longestMs) return;
    this.longestMs = at - since;
    this.longestOf = service;
  }
}

/** Readers of one virtual cluster on its host. */
export class Readers {
  readonly #api: Api;
  readonly #shop: Shop;
  readonly #virtual: { readonly name: string; readonly namespace: string };

  constructor(api: Api, shop: Shop, virtual: { readonly name: string; readonly namespace: string }) {
    this.#api = api;
    this.#shop = shop;
    this.#virtual = virtual;
  }

  /** Looks all the time while something is done, until both sides agree. */
  async watch(act: () => Promise<void>, limits: Limits = {}): Promise<Seen> {
    const watcher = new Watcher(this.#shop, (service) => this.#nameOf(service), limits);
    let over = false;
    const look = async () => {
      while (!over) {
        watcher.look(await this.#look());
        await sleep(LOOK_MS);
      }
    };
    const looking = look();
    let differences: string[] = [];
    try {
      await act();
      differences = await this.settle(limits.exceptAtRest);
    } finally {
      over = true;
      await looking;
    }
    const seen = watcher.seen();
    return { ...seen, problems: [...seen.problems, ...differences] };
  }

  /** Waits until the host shows what the tenant shows, each backend once; answers the differences that stay. */
  async settle(except?: string): Promise<string[]> {
    const from = performance.now();
    for (;;) {
      const late = performance.now() - from > SETTLE_MS;
      const views = await this.#look();
      const differences = typeof views === "string" ? [`the host does not answer: ${views}`] : this.#differences(views, except);
      if (differences.length === 0 || late) return differences;
      await sleep(100);
    }
  }

  #differences(views: Views, except?: string): string[] {
    return [...this.#shop.shown].flatMap(([service, shown]) => {
      const view = views.get(this.#nameOf(service)) ?? { backends: new Set<string>(), doubles: 0, slices: [] };
      const same = view.backends.size === shown.size && [...shown].every((one) => view.backends.has(one));
      if (service === except || (same && view.doubles === 0)) return [];
      const told = `${view.backends.size} of ${shown.size} backends, ${view.doubles} doubled, in ${view.slices.slice(0, 4).join(" ")}`;
      return [`${service} is not as the tenant shows it: ${told}`];
    });
  }

  #nameOf(service: string): string {
    return hostPlace(this.#virtual, [NAMESPACE, service])[1];
  }

  /** What is seen, or why nothing can be read. */
  async #look(): Promise<Views | string> {
    const path = `${pathOf(SLICES, this.#virtual.namespace)}?resourceVersion=0`;
    const answer = await this.#api.ask("GET", path).catch((error: unknown) => String(error));
    if (typeof answer === "string") return answer;
    if (answer.status !== 200) return `${answer.status} ${answer.text.slice(0, 200)}`;
    return viewsOf((JSON.parse(answer.text) as { items: Slice[] }).items);
  }
}

/** Compares each look of one step with what the tenant shows throughout. */
class Watcher {
  readonly #shop: Shop;
  readonly #nameOf: (service: string) => string;
  readonly #limits: Limits;
  /** Service → backends that the tenant has shown all the time. */
  readonly #kept: ReadonlyMap<string, Set<string>>;
  readonly #doubled = new Spells();
  readonly #missed = new Spells();
  readonly #gaps = new Map<string, string>();
  #looks = 0;
  #unanswered = 0;
  #reason = "";

  constructor(shop: Shop, nameOf: (service: string) => string, limits: Limits) {
    this.#shop = shop;
    this.#nameOf = nameOf;
    this.#limits = limits;
    this.#kept = new Map([...shop.shown].filter(([service]) => service !== limits.except).map(([name, shown]) => [name, new Set(shown)]));
  }

  /** Without an answer, readers go on with what they have seen last, of which nothing new can be said. */
  look(views: Views | string): void {
    this.#looks += 1;
    if (typeof views === "string") {
      this.#unanswered += 1;
      this.#reason = views;
      return;
    }
    const at = performance.now();
    for (const [service, kept] of this.#kept) {
      const shown = this.#shop.shown.get(service)!;
      for (const one of kept) if (!shown.has(one)) kept.delete(one);
      const view = views.get(this.#nameOf(service));
      const missing = [...kept].filter((one) => !view?.backends.has(one));
      if (missing.length > 0) this.#gaps.set(service, this.#gaps.get(service) ?? `${missing.length} of ${kept.size}: ${missing[0]}`);
      this.#missed.note(service, missing.length > 0, at);
      this.#doubled.note(service, (view?.doubles ?? 0) > 0, at);
    }
  }

  seen(): Seen {
    const problems = [...this.#gaps].map(([service, what]) => `${service} misses backends that the tenant shows throughout, ${what}`);
    if (problems.length > 0) problems.push(`the longest gap, of ${this.#missed.longestOf}, took about ${ms(this.#missed.longestMs)}`);
    const most = this.#limits.hostIsDown ? this.#looks - 1 : this.#looks * UNANSWERED_MAX;
    if (this.#unanswered > most) problems.push(`${this.#unanswered} of ${this.#looks} looks have no answer: ${this.#reason}`);
    const { longestMs, longestOf } = this.#doubled;
    return {
      looks: this.#looks,
      unanswered: this.#unanswered,
      reason: this.#reason,
      problems,
      doubledMs: longestMs,
      doubledService: longestOf,
    };
  }
}

function viewsOf(slices: readonly Slice[]): Views {
  const views = new Map<string, View>();
  for (const { metadata, endpoints, ports } of slices) {
    const { "kubernetes.io/service-name": service, "endpointslice.kubernetes.io/managed-by": manager } = metadata.labels ?? {};
    if (service === undefined || metadata.deletionTimestamp !== undefined) continue;
    const view = views.get(service) ?? { backends: new Set(), doubles: 0, slices: [] };
    views.set(service, view);
    view.slices.push(`${metadata.name} of ${manager ?? "unknown"}`);
    for (const { addresses, conditions } of endpoints ?? []) {
      for (const one of addresses.flatMap((address) =>
        (ports ?? []).map((port) => backend(address, { ...port, ready: conditions?.ready !== false })),
      )) {
        if (view.backends.has(one)) view.doubles += 1;
        view.backends.add(one);
      }
    }
  }
  return views;
}

/** Milliseconds for people. */
export function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
