import type { ResourceType } from "../../../kube/object/resource.ts";
import type { Response } from "../../../engine/reconcile/machine.ts";
import { writtenKey } from "../../../engine/reconcile/plan-types.ts";
import { responseTo, send } from "../../../engine/sync/run/apply.ts";
import type { Side } from "../../simulator/model/cluster.ts";
import { describeRequest, simulatedOutage } from "../../simulator/world.ts";
import { BrokenRequests, errorOf, sideOf, type RequestFault, type SentRequest } from "./broken-requests.ts";
import type { Ledger } from "./ledger.ts";

/** Dependencies of the wire. */
export interface WireOptions {
  readonly ledger: Ledger;
  readonly isDown: (side: Side) => boolean;
  /** Adds a line to the chronicle. */
  readonly log: (who: string, what: string) => void;
  /** Schedules an action after this many virtual milliseconds. */
  readonly later: (afterMs: number, what: string, perform: () => Promise<void>) => void;
}

/** A request with its kind. */
export interface Sent {
  readonly request: SentRequest;
  readonly resource: ResourceType;
}

/** The connection between the syncer and both clusters, with the faults that break single requests. */
export class Wire {
  /** Faults that wait for a request. */
  readonly broken = new BrokenRequests();
  readonly #options: WireOptions;
  #rivals = 0;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  /** Sends a request to its cluster, and returns the response that the syncer receives. */
  async transmit(sent: Sent): Promise<Response> {
    const { request, resource } = sent;
    const { log, isDown } = this.#options;
    const side = sideOf(request);
    if (isDown(side)) {
      log("syncer", `cannot reach the ${side} cluster: ${textOf(sent)}`);
      return responseTo(request, simulatedOutage(side));
    }
    const fault = this.broken.take(request, resource);
    if (fault === undefined) return this.deliver(sent);
    log("fault", `${fault.kind === "answered" ? `answered ${fault.status}` : fault.kind}: ${textOf(sent)}`);
    return this.#break(fault, sent);
  }

  /** Delivers a request to its cluster, whether or not its caller still waits for the response. */
  async deliver({ request, resource }: Sent): Promise<Response> {
    const { ledger, log } = this.#options;
    ledger.author = "syncer";
    const { tenant, host } = ledger.clusters;
    const response = await send(request, resource, { tenant: tenant.writer, host: host.writer });
    if (response.type === "refused" || response.type === "outdated" || response.type === "failed")
      log("syncer", `is ${response.type}: ${textOf({ request, resource })}`);
    return response;
  }

  /** Delivers a request whose caller no longer waits for the response. */
  async deliverLate(sent: Sent): Promise<void> {
    this.#options.log("fault", `a late write arrives: ${textOf(sent)}`);
    await this.deliver(sent);
  }

  async #break(fault: RequestFault, sent: Sent): Promise<Response> {
    const lost: Response = { type: "failed", error: simulatedOutage(sideOf(sent.request)) };
    switch (fault.kind) {
      case "answered":
        return responseTo(sent.request, errorOf(fault.status));
      case "lostRequest":
        return lost;
      case "lostAnswer":
        await this.deliver(sent);
        return lost;
      case "lateWrite":
        this.#options.later(fault.forMs, "a late write", () => this.deliverLate(sent));
        return lost;
      case "rival":
        await this.#writeAsRival(sent);
        return this.deliver(sent);
    }
  }

  async #writeAsRival({ request, resource }: Sent): Promise<void> {
    if (request.type !== "write") return;
    const { ledger } = this.#options;
    const { operation } = request;
    const key = writtenKey(operation);
    const { writer } = ledger.clusters[operation.side];
    const object = await writer.get(resource, key);
    if (object === undefined) return;
    this.#rivals += 1;
    ledger.author = "rival";
    const annotations = { ...object.metadata.annotations, "example.com/rival": String(this.#rivals) };
    await writer.update(resource, { ...object, metadata: { ...object.metadata, annotations } });
  }
}

function textOf({ request, resource }: Sent): string {
  return describeRequest(request, resource.plural);
}
