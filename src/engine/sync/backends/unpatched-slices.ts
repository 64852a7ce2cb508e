import type { Logger } from "../../../base/logger.ts";
import { formatKey, type ObjectKey } from "../../../kube/object/key.ts";
import { controllerOf } from "../../kinds/slice-labels.ts";
import { decideCopy } from "../../reconcile/predicate/should-copy.ts";
import type { Surroundings } from "../../reconcile/rules/rules.ts";
import type { Tracked } from "../run/reconcile.ts";
import type { ServiceSlices } from "../state/service-slices.ts";

/** Maximum number of Services that are logged; more would not help a reader. */
const TOLD_MAX = 10;

/** Logs Services for which users have written slices: patches of `endpoints` have no effect on these. */
export interface UnpatchedSlices {
  /** Checks the slices of one Service. Each Service is logged once. */
  look(service: ObjectKey, logger: Logger, around: () => Surroundings): void;
}

/** Creates a reporter of slices without patches. It reports nothing if slices have their own patches, or if Endpoints have none. */
export function createUnpatchedSlices(endpoints: Tracked, slices: Tracked, slicesOf: ServiceSlices["of"]): UnpatchedSlices {
  const told = new Set<string>();
  const isUnequal = endpoints.rules.patches.length > 0 && slices.rules.patches.length === 0;
  return {
    look(service, logger, around) {
      if (!isUnequal || told.size >= TOLD_MAX) return;
      const id = formatKey(service);
      if (told.has(id)) return;
      const isUsers = (key: ObjectKey) => {
        const slice = slices.tenant.get(key);
        if (slice === undefined || controllerOf(slice) !== undefined) return false;
        return decideCopy(slices.rules, key, slice, around()).action === "copy";
      };
      if (!slicesOf(service).some(isUsers)) return;
      told.add(id);
      logger.warn("Patches of endpoints have no effect on slices that users have written for a Service", {
        service: id,
        hint: "Write the same patches for endpointSlices, with backends: auto in the settings",
      });
    },
  };
}
