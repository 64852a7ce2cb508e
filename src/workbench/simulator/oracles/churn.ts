import { ENDPOINT_SLICES } from "../../../kube/object/resource.ts";
import type { Oracle } from "../model/history.ts";
import { SLICE_SUFFIXES } from "../model/objects.ts";
import { decidesBackends } from "./marks.ts";
import type { World } from "../world.ts";

/** Writes that one outside write may cause: to the host, back, and again for the Service or Endpoints with the same name. */
const PER_WRITE = 4;
/** Writes that one new configuration may cause per object and replica. */
const PER_CONFIGURATION = 2;
/**
 * Writes that one start, or one incomplete list, may cause per object: the list shows deleted objects or hides existing ones, and the watch
 * then corrects that.
 */
const PER_LIST = 2;

/** Writes of slices that are made from one copy of Endpoints, and of the slices that they replace. */
const PER_COPY_MADE_OF = 4;

/**
 * How often two replicas may undo each other's writes after a false response about a Service. The replica that received it acts on a
 * Service that does not exist until a bookmark proves the opposite, while the write limiter slows both replicas down.
 */
const ROUNDS_PER_LIE = 6;

/**
 * S8: replicas write only in response to other writers, and only a limited number of times for each of their writes. Not checked in
 * settings whose expressions never settle.
 */
export function churn(world: World): Oracle {
  const slices = world.resources.includes(ENDPOINT_SLICES) ? SLICE_SUFFIXES.length * 2 : 0;
  const perWrite = PER_WRITE + slices + (decidesBackends(world) ? PER_COPY_MADE_OF : 0);
  let allowed = 0;
  let written = 0;
  return {
    name: "S8",
    about: "both",
    noticed(event) {
      const objects = world.resources.length * world.options.names.length;
      if (event === "backends") allowed += world.options.names.length * world.options.replicas * (PER_COPY_MADE_OF + slices);
      if (event === "configuration" || event === "backends") allowed += objects * world.options.replicas * PER_CONFIGURATION;
      if (event === "restart" || event === "incomplete list") allowed += objects * PER_LIST;
    },
    misled({ id }, how) {
      const isOfBackends = id.startsWith("services|") && decidesBackends(world);
      if (how === "lie" && isOfBackends && world.options.replicas > 1) allowed += perWrite * ROUNDS_PER_LIE;
    },
    saw({ author }) {
      if (author.kind !== "replica") allowed += perWrite;
      else written += 1;
      return written > allowed && world.options.setting.restless !== true
        ? `replicas wrote ${written} times, but had reasons for only ${allowed}`
        : undefined;
    },
  };
}
