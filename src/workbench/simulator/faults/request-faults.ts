import { EngineError } from "../../../base/errors.ts";
import type { Code } from "../../../base/codes.ts";
import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import { responseTo } from "../../../engine/sync/run/apply.ts";
import { alter, lineOfAct, withEntry, withMeta, type Act } from "../act.ts";
import { drawFlight, isAsked } from "./moves.ts";
import { PRIVATE_ANNOTATION } from "../model/objects.ts";
import type { Flight, SimulatedReplica } from "../model/replica.ts";
import { describeRequest, simulatedOutage, type World } from "../world.ts";

type Found = { readonly replica: SimulatedReplica; readonly flight: Flight };

/** A fault of one request that waits for a cluster. */
function requestFault(
  name: string,
  weight: number,
  fits: (flight: Flight, world: World) => boolean,
  how: (world: World, found: Found) => unknown,
): Act {
  return {
    name,
    kind: "fault",
    weight,
    perform(world, random) {
      const found = drawFlight(world, random, (flight) => isAsked(flight) && flight.request.type !== "report" && fits(flight, world));
      return found && broken(world, found);
    },
  };
  async function broken(world: World, found: Found): Promise<string> {
    const { replica, flight } = found;
    const text = describeRequest(flight.request, flight.reconcile.resource.plural);
    await how(world, found);
    return `${name}: replica ${replica.index}, ${text}`;
  }
}

const always = () => true;
const isWrite = ({ request }: Flight) => request.type === "write";
const isCreation = ({ request }: Flight) => request.type === "write" && request.operation.action === "create";

function giveUp({ flight }: Found): void {
  flight.response = { type: "failed", error: simulatedOutage("host") };
}

function answered(name: string, code: Code, weight: number, fits = always as (flight: Flight) => boolean): Act {
  return requestFault(name, weight, fits, (_world, { flight }) => {
    if (flight.request.type === "report") return;
    flight.response = responseTo(flight.request, new EngineError(code, `The simulated response is ${code}`));
  });
}

/** The key of the host object that a write updates or deletes. */
function targetOf({ request }: Flight): ObjectKey | undefined {
  if (request.type !== "write" || request.operation.side !== "host" || request.operation.action === "create") return undefined;
  const { operation } = request;
  return operation.action === "delete"
    ? operation.key
    : { namespace: operation.object.metadata.namespace ?? "", name: operation.object.metadata.name ?? "" };
}

/** Reports whether the cluster would accept a write. Others must be refused, because a fence requires that one of two writes fails. */
function isCurrent({ request, reconcile: { resource } }: Flight, world: World): boolean {
  if (request.type !== "write" || request.operation.action !== "update") return true;
  const { metadata } = request.operation.object;
  const stored = world.clusters.host.objects(resource).get(formatKey({ namespace: metadata.namespace ?? "", name: metadata.name ?? "" }));
  return stored?.metadata.resourceVersion === metadata.resourceVersion;
}

/** A proxy that never passed a write on reports it as done. The response is plausible, but false. */
function lie(action: "create" | "update" | "delete", weight: number): Act {
  const fits = (flight: Flight, world: World) => {
    const { request } = flight;
    return request.type === "write" && request.operation.side === "host" && request.operation.action === action && isCurrent(flight, world);
  };
  return requestFault(`${action} falsely reported as done`, weight, fits, async (world, { flight }) => {
    if (flight.request.type !== "write") return;
    const { operation } = flight.request;
    if (operation.action === "delete") return void (flight.response = { type: "absent" });
    // Use a version that nothing else will ever have. Otherwise no precondition could reveal that the response is false.
    await world.clusters.host.goOn();
    const { metadata } = operation.object;
    const { uid = "never-stored" } = metadata;
    const resourceVersion = String(world.clusters.host.revision);
    flight.response = { type: "object", object: withMeta(operation.object, { ...metadata, uid, resourceVersion }) };
  });
}

/** Another writer changes the same object at the last moment. Many of these in a row cause a storm of conflicts. */
const rival: Act = {
  name: "rival writes first",
  kind: "fault",
  weight: 3,
  perform(world, random) {
    const found = drawFlight(world, random, (flight) => isAsked(flight) && targetOf(flight) !== undefined);
    if (found === undefined) return undefined;
    const key = targetOf(found.flight)!;
    const resource = found.flight.reconcile.resource;
    const value = String(random.below(1_000_000));
    const writing = alter(world, { side: "host", resource, key }, (object) =>
      withMeta(object, { annotations: withEntry(object.metadata.annotations, PRIVATE_ANNOTATION, value) }),
    );
    return lineOfAct(`rival writes host ${resource.plural} ${formatKey(key)} first`, writing);
  },
};

/** Faults of single requests. */
export const REQUEST_FAULTS: readonly Act[] = [
  requestFault("request lost", 2, always, (_world, found) => giveUp(found)),
  requestFault("answer lost", 3, isWrite, async (world, found) => {
    await world.transmit(found.flight, { index: found.replica.index, unanswered: true });
    giveUp(found);
  }),
  requestFault("write is late", 3, isWrite, (world, found) => {
    world.delay(found.flight, found.replica.index);
    giveUp(found);
  }),
  rival,
  lie("create", 2),
  lie("update", 2),
  lie("delete", 6),
  answered("answered 409", "API_CONFLICT", 1, isWrite),
  answered("answered 429", "API_TOO_MANY_REQUESTS", 1),
  answered("answered 503", "API_UNAVAILABLE", 1),
  answered("answered 403", "API_FORBIDDEN", 0.7),
  answered("answered 422", "API_INVALID", 0.7, isWrite),
  answered("namespace missing", "API_NOT_FOUND", 0.7, isCreation),
];
