import { formatSeconds } from "./durations.ts";
import type { RequestFault } from "./world/broken-requests.ts";
import type { ObjectPlaces } from "./places.ts";
import type { Fault } from "./sequence.ts";
import type { SequenceWorld } from "./world/world.ts";

/** Starts a fault. The returned function reports whether the fault is still waiting for its target. */
export function inject(world: SequenceWorld, places: ObjectPlaces, fault: Fault): () => boolean {
  switch (fault.kind) {
    case "watchExpired":
      world.tell("fault", `the watches of the ${fault.side} cluster expire`);
      world.relist(fault.side);
      return never;
    case "lateList":
      world.tell("fault", `a list of the ${fault.side} cluster is ${fault.behind} change${fault.behind === 1 ? "" : "s"} late`);
      world.relist(fault.side, { behind: fault.behind });
      return never;
    case "emptyList":
      world.tell("fault", `the ${fault.side} cluster lists nothing for ${formatSeconds(fault.forMs)}`);
      world.empty(fault.side, fault.forMs);
      return never;
    case "watchCut":
      world.tell("fault", `the watches of the ${fault.side} cluster send nothing for ${formatSeconds(fault.forMs)}`);
      world.cut(fault.side, fault.forMs);
      return never;
    case "down":
      world.tell("fault", `the ${fault.side} cluster is down for ${formatSeconds(fault.forMs)}`);
      world.down(fault.side, fault.forMs);
      return never;
    case "crash":
      world.tell("fault", fault.forMs === 0 ? "the syncer crashes" : `the syncer crashes, and is down for ${formatSeconds(fault.forMs)}`);
      world.crash(fault.forMs, fault.behind);
      return never;
    case "stall":
      world.tell("fault", `the syncer pauses for ${formatSeconds(fault.forMs)}`);
      world.stall(fault.forMs);
      return never;
    case "lostEvent": {
      world.lostEvents[fault.side] += 1;
      return () => world.lostEvents[fault.side] > 0;
    }
    default:
      return wait(world, places, fault);
  }
}

const never = () => false;

function wait(world: SequenceWorld, places: ObjectPlaces, fault: RequestFault): () => boolean {
  if (fault.kind === "rival") {
    const { resource, key } = places.find("host", fault.object);
    world.wire.broken.add(fault, key && { resource, key });
  } else world.wire.broken.add(fault);
  return () => world.wire.broken.unmet.includes(fault);
}
