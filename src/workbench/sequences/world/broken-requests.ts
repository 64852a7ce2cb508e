import { EngineError } from "../../../base/errors.ts";
import type { Code } from "../../../base/codes.ts";
import { sameKey, type ObjectKey } from "../../../kube/object/key.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { Request } from "../../../engine/reconcile/machine.ts";
import { writtenKey } from "../../../engine/reconcile/plan-types.ts";
import type { Side } from "../../simulator/model/cluster.ts";
import type { AnsweredStatus, Fault } from "../sequence.ts";

/** A fault that waits for requests. */
export type RequestFault = Extract<Fault, { readonly times: number }>;

/** The copy that a rival writes. */
export interface RivalTarget {
  readonly resource: ResourceType;
  readonly key: ObjectKey;
}

interface Waiting {
  readonly fault: RequestFault;
  readonly target: RivalTarget | undefined;
  left: number;
}

/** A request that is sent to a cluster. */
export type SentRequest = Exclude<Request, { type: "done" | "report" }>;

const CODES: Readonly<Record<AnsweredStatus, Code>> = {
  403: "API_FORBIDDEN",
  409: "API_CONFLICT",
  422: "API_INVALID",
  429: "API_TOO_MANY_REQUESTS",
  503: "API_UNAVAILABLE",
};

/** Statuses that only the response to a write can have. */
const FOR_WRITES: readonly AnsweredStatus[] = [409, 422];

/** Faults that wait for the requests that they affect. */
export class BrokenRequests {
  readonly #waiting: Waiting[] = [];

  /** Adds a fault that affects the next `times` matching requests. */
  add(fault: RequestFault, target?: RivalTarget): void {
    this.#waiting.push({ fault, target, left: fault.times });
  }

  /** Returns the first fault that affects this request, and counts the request; undefined if there is none. */
  take(request: SentRequest, resource: ResourceType): RequestFault | undefined {
    const found = this.#waiting.find((waiting) => fits(waiting, request, resource));
    if (found === undefined) return undefined;
    found.left -= 1;
    if (found.left === 0) this.#waiting.splice(this.#waiting.indexOf(found), 1);
    return found.fault;
  }

  /** Faults that still wait for a request. */
  get unmet(): readonly RequestFault[] {
    return this.#waiting.map(({ fault }) => fault);
  }
}

/** The cluster that a request is sent to. */
export function sideOf(request: SentRequest): Side {
  return request.type === "get" ? request.side : request.operation.side;
}

/** The error for a response with this status. */
export function errorOf(status: AnsweredStatus): EngineError {
  return new EngineError(CODES[status], `The response is ${status}, as the sequence specifies`);
}

function fits({ fault, target }: Waiting, request: SentRequest, resource: ResourceType): boolean {
  if (fault.kind === "rival") return target !== undefined && isWriteOf(request, resource, target);
  if (fault.side !== sideOf(request)) return false;
  if (fault.kind === "answered") return request.type === "write" || !FOR_WRITES.includes(fault.status);
  return request.type === "write";
}

/** Reports whether a request writes the target. A creation does not count, because there is no object that a rival could change first. */
function isWriteOf(request: SentRequest, resource: ResourceType, target: RivalTarget): boolean {
  if (request.type !== "write" || request.operation.side !== "host" || request.operation.action === "create") return false;
  const { operation } = request;
  return resource.plural === target.resource.plural && sameKey(writtenKey(operation), target.key);
}
