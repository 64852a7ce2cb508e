/** Services of a tenant, of each kind that there is, and what readers of the host must see of them. */
import { setTimeout as sleep } from "node:timers/promises";
import { ENDPOINTS, pathOf, Refused, SERVICES, SLICES, type Api, type Kind } from "../outside/api.ts";
import { hold } from "../outside/cases.ts";

const PODS: Kind = { kind: "Pod", plural: "pods", base: "api/v1" };
const NODES: Kind = { kind: "Node", plural: "nodes", base: "api/v1" };
export const NAMESPACE = "shop";
/** The Service with more addresses than a mirror takes over: 1,000 of a subset. */
export const LARGE = "large";
/** The Service that is deleted in the end. */
export const PLAIN = "plain";

const LEADER = "control-plane.alpha.kubernetes.io/leader";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
/** Of the Service and of what is written for it. */
const PORT = { name: "http", port: 8080 };

/** Addresses of a network, in order. */
function addresses(network: number, from: number, count: number): string[] {
  return Array.from({ length: count }, (_none, at) => `10.${network}.${(from + at) >> 8}.${(from + at) & 255}`);
}

/** A backend as readers know it. */
export function backend(address: string, { port, name, ready = true }: { port?: number; name?: string; ready?: boolean } = PORT): string {
  return `${address}:${port ?? ""}/${name ?? ""}${ready ? "" : " not ready"}`;
}

/** What is written into one Endpoints. */
interface Written {
  readonly ready: readonly string[];
  readonly notReady?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The namespace of the tenant. */
export class Shop {
  /** Service → what the tenant shows, or what it shows before and after a write that is on its way. */
  readonly shown = new Map<string, ReadonlySet<string>>();
  readonly #api: Api;
  readonly #made = new Set<string>();

  constructor(api: Api) {
    this.#api = api;
  }

  /** Writes eight kinds of Services. */
  async fill(): Promise<void> {
    await this.#api.namespaces(NAMESPACE);
    await this.#write(NODES, "n", {});
    for (const name of [PLAIN, "patroni", LARGE, "edge", "sliced", "dual"]) await this.#service(name);
    await this.#service("headless", { clusterIP: "None" });
    await this.#service("pods", { selector: { app: "pods" } });
    await this.plain();
    await this.#endpoints("headless", { ready: addresses(1, 20, 3) });
    await this.#endpoints("patroni", { ready: addresses(1, 30, 2), annotations: { [LEADER]: '{"holderIdentity":"a"}' } });
    await this.#endpoints(LARGE, { ready: addresses(2, 0, 1_500) });
    await this.#endpoints("edge", { ready: addresses(3, 0, 1_000) });
    await this.#sliced(addresses(1, 40, 3));
    await this.#dual();
    await this.#pods(3);
  }

  /** Writes the Service with three addresses, and maybe one more. */
  plain(more: readonly string[] = []): Promise<void> {
    return this.#endpoints(PLAIN, { ready: [...addresses(1, 1, 3), ...more], notReady: addresses(1, 9, 1) });
  }

  /** Takes all of its addresses. */
  emptyPlain(): Promise<void> {
    return this.#endpoints(PLAIN, { ready: [] });
  }

  /** Deletes it; a controller of the tenant may be the first to delete its Endpoints. */
  async deletePlain(): Promise<void> {
    this.shown.set(PLAIN, new Set());
    await this.#api.remove(SERVICES, NAMESPACE, PLAIN);
    await this.#api.remove(ENDPOINTS, NAMESPACE, PLAIN).catch((error: unknown) => {
      if (!(error instanceof Refused && error.status === 404)) throw error;
    });
  }

  /** Changes one address of most Services, so many times. */
  async churn(times: number): Promise<void> {
    for (let at = 0; at < times; at += 1) {
      await this.plain(addresses(1, 100 + at, 1));
      await this.#endpoints("headless", { ready: [...addresses(1, 20, 3), ...addresses(1, 120 + at, 1)] });
      const annotations = { [LEADER]: `{"holderIdentity":"${at}"}` };
      await this.#endpoints("patroni", { ready: [...addresses(1, 30, 2), ...addresses(1, 140 + at, 1)], annotations });
      if (at % 3 === 0) await this.#endpoints(LARGE, { ready: addresses(2, at, 1_500) });
      await this.#sliced([...addresses(1, 40, 3), ...addresses(1, 160 + at, 1)]);
      await sleep(150);
    }
  }

  #service(name: string, spec: object = {}): Promise<void> {
    return this.#write(SERVICES, name, { spec: { ports: [{ name: PORT.name, port: 80, targetPort: PORT.port }], ...spec } });
  }

  async #endpoints(name: string, { ready, notReady = [], annotations = {} }: Written): Promise<void> {
    const of = (list: readonly string[]) => list.map((ip) => ({ ip }));
    const subset = {
      ports: [PORT],
      ...(ready.length > 0 && { addresses: of(ready) }),
      ...(notReady.length > 0 && { notReadyAddresses: of(notReady) }),
    };
    const backends = [...ready.map((ip) => backend(ip)), ...notReady.map((ip) => backend(ip, { ...PORT, ready: false }))];
    const subsets = backends.length === 0 ? [] : [subset];
    await this.#show(name, backends, () => this.#write(ENDPOINTS, name, { subsets }, { annotations }));
  }

  /** Slices as an operator writes them, without Endpoints. */
  async #slice(name: string, service: string, list: readonly string[], addressType = "IPv4"): Promise<void> {
    const labels = { "kubernetes.io/service-name": service, [MANAGED_BY]: "operator.example.com" };
    const endpoints = list.map((address) => ({ addresses: [address], conditions: { ready: true } }));
    await this.#write(SLICES, name, { addressType, endpoints, ports: [{ ...PORT, protocol: "TCP" }] }, { labels });
  }

  async #sliced(list: readonly string[]): Promise<void> {
    const backends = list.map((address) => backend(address));
    await this.#show("sliced", backends, () => this.#slice("sliced-a", "sliced", list));
  }

  async #dual(): Promise<void> {
    const [four, six] = [addresses(1, 50, 2), ["fd00::1", "fd00::2"]];
    const backends = [...four, ...six].map((address) => backend(address));
    await this.#show("dual", backends, async () => {
      await this.#slice("dual-4", "dual", four);
      await this.#slice("dual-6", "dual", six, "IPv6");
    });
  }

  /** Pods behind a selector, as a kubelet reports them: the tenant's own controllers make the rest. */
  async #pods(count: number): Promise<void> {
    for (const ip of addresses(9, 1, count)) {
      const name = `pod-${ip.replaceAll(".", "-")}`;
      const spec = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
      await this.#write(PODS, name, { spec }, { labels: { app: "pods" } });
      const conditions = [{ type: "Ready", status: "True" }];
      const body = JSON.stringify({ status: { phase: "Running", podIP: ip, podIPs: [{ ip }], hostIP: "10.8.0.1", conditions } });
      const path = `${pathOf(PODS, NAMESPACE, name)}/status`;
      const { status, text } = await this.#api.ask("PATCH", path, { body, type: "application/merge-patch+json" });
      hold(status === 200, `the status of a Pod: ${status} ${text}`);
      this.shown.set("pods", new Set([...(this.shown.get("pods") ?? []), backend(ip)]));
    }
  }

  /** Writes backends: meanwhile only those are shown that were there before and stay. */
  async #show(service: string, backends: readonly string[], write: () => Promise<void>): Promise<void> {
    const next = new Set(backends);
    this.shown.set(service, new Set([...(this.shown.get(service) ?? [])].filter((one) => next.has(one))));
    await write();
    this.shown.set(service, next);
  }

  /** Creates an object, or changes what is given of it. */
  async #write(kind: Kind, name: string, fields: object, metadata: object = {}): Promise<void> {
    const place = kind === NODES ? {} : { namespace: NAMESPACE };
    const key = `${kind.kind} ${name}`;
    if (this.#made.has(key)) await this.#api.merge(kind, [NAMESPACE, name], { ...fields, metadata });
    else await this.#api.create(kind, { ...fields, metadata: { ...metadata, ...place, name } });
    this.#made.add(key);
  }
}
