import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import { controllerOf, MIRROR } from "../../kinds/slice-labels.ts";
import { decideCopy } from "../../reconcile/predicate/should-copy.ts";
import type { Surroundings } from "../../reconcile/rules/rules.ts";
import type { Tracked } from "../run/reconcile.ts";
import type { ServiceSlices } from "../state/service-slices.ts";

/** Maximum number of Services that are logged; more would not help a reader. */
const REPORTED_MAX = 10;
/** Time for which slices of Pods must be copied, in milliseconds. A cluster often makes them just before the Endpoints. */
const LASTS_MS = 5_000;

/** Logs Services with copied slices that are not made from Endpoints: patches of `endpoints` have no effect on these. */
export interface UnpatchedSlices {
  /** Checks the slices of one Service. Each Service is logged once. Returns the delay before the next check, if one is needed. */
  look(service: ObjectKey, logger: Logger, about: CheckedService): number | undefined;
}

/** Facts about a Service besides its slices. */
export interface CheckedService {
  /** Slices that the tenant's cluster has made from Pods are copied. */
  readonly copiesDerived: boolean;
  readonly around: () => Surroundings;
}

/** Creates a reporter of slices without patches. It reports nothing if slices have their own patches, or if Endpoints have none. */
export function createUnpatchedSlices(endpoints: Tracked, slices: Tracked, slicesOf: ServiceSlices["of"], clock: Clock): UnpatchedSlices {
  const reported = new Set<string>();
  /** Per Service: the time since which slices of Pods are copied. */
  const derivedSince = new Map<string, number>();
  const isUnequal = endpoints.rules.patches.length > 0 && slices.rules.patches.length === 0;

  /** Returns who wrote the copied slices of a Service, in words; undefined if there are none on which patches of Endpoints should act. */
  function writersOf(service: ObjectKey, { copiesDerived, around }: CheckedService): "users" | "Pods" | undefined {
    const copied = slicesOf(service).flatMap((key) => {
      const slice = slices.tenant.get(key);
      const writer = slice && controllerOf(slice);
      if (slice === undefined || writer === MIRROR || (writer !== undefined && !copiesDerived)) return [];
      return decideCopy(slices.rules, key, slice, around()).action === "copy" ? [writer] : [];
    });
    return copied.length === 0 ? undefined : copied.includes(undefined) ? "users" : "Pods";
  }

  return {
    look(service, logger, about) {
      const id = formatKey(service);
      if (!isUnequal || reported.size >= REPORTED_MAX || reported.has(id)) return undefined;
      const writers = writersOf(service, about);
      if (writers !== "Pods") derivedSince.delete(id);
      if (writers === undefined) return undefined;
      const since = derivedSince.get(id) ?? clock.monotonic();
      const leftMs = writers === "Pods" ? since + LASTS_MS - clock.monotonic() : 0;
      if (leftMs > 0) derivedSince.set(id, since);
      if (leftMs > 0) return leftMs;
      derivedSince.delete(id);
      reported.add(id);
      logger.warn(
        writers === "users"
          ? "Patches of endpoints have no effect on slices that users have written for a Service"
          : "Patches of endpoints have no effect on copied slices that the tenant's cluster has made from Pods of a Service",
        { service: id, hint: "Write the same patches for endpointSlices, with backends: auto in the settings" },
      );
      return undefined;
    },
  };
}
