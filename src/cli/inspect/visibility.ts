/**
 * What readers on the host see of the tenant's backends, for commands that look at both clusters.
 *
 * @module
 */
import { delay } from "../../base/clock.ts";
import { isEngineError } from "../../base/errors.ts";
import type { EngineError } from "../../base/errors.ts";
import type { ListScope } from "../../kube/object/cluster-client.ts";
import { keyOf } from "../../kube/object/key.ts";
import type { ObjectKey } from "../../kube/object/key.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import type { ClusterReads } from "../../engine/sync/inspect/cluster-reads.ts";
import { invisibleBackends } from "../../engine/sync/inspect/invisible-backends.ts";
import type { InvisibleBackends } from "../../engine/sync/inspect/invisible-backends.ts";
import { hostScope } from "../input/followed-cluster.ts";
import { tellWarning } from "../output/messages.ts";
import type { Terminal } from "../process/terminal.ts";
import type { Inspection } from "./inspection.ts";

/** What was found, and what could not be looked at. */
export interface Visibility {
  readonly invisible: readonly InvisibleBackends[];
  /** Clusters that do not show their slices. */
  readonly hidden: readonly { readonly side: "tenant" | "host"; readonly error: EngineError }[];
}

/** A mirror needs a moment; what is not seen must not be seen twice, so long apart, in milliseconds. */
const SETTLING_MS = 2_000;

/** Compares what the tenant's readers see with what readers on the host do, for all Services or for these. Reads lists, and nothing else. */
export async function readInvisible(inspection: Inspection, services?: readonly ObjectKey[]): Promise<Visibility> {
  const { rules, tenant, host, tenantReads, hostReads, engine, clock } = inspection;
  // Where no Endpoints are copied, slices are copied as they are or nothing is.
  if (!rules.some(({ kind, enabled }) => kind.resource === ENDPOINTS && enabled)) return { invisible: [], hidden: [] };
  const asked = services ?? tenant.source(SERVICES).list().map(keyOf);
  const present = asked.filter((key) => tenant.before(SERVICES, key) !== undefined);
  if (present.length === 0) return { invisible: [], hidden: [] };
  const [ofTenant, ofHost] = await Promise.all([slices(tenantReads, {}), slices(hostReads, hostScope(engine.translator))]);
  const hidden = [
    ...(ofTenant.error === undefined ? [] : [{ side: "tenant" as const, error: ofTenant.error }]),
    ...(ofHost.error === undefined ? [] : [{ side: "host" as const, error: ofHost.error }]),
  ];
  if (ofHost.items === undefined) return { invisible: [], hidden };
  const look = (keys: readonly ObjectKey[], hostSlices: readonly KubeObject[]) =>
    invisibleBackends({
      rules,
      services: keys,
      tenant: { get: (resource, key) => tenant.before(resource, key), slices: ofTenant.items },
      host: { get: (resource, key) => host.before(resource, key), slices: hostSlices },
    });
  const first = look(present, ofHost.items);
  if (first.length === 0) return { invisible: [], hidden };
  await delay(clock, SETTLING_MS);
  const again = await slices(hostReads, hostScope(engine.translator));
  return {
    invisible:
      again.items === undefined
        ? first
        : look(
            first.map((one) => one.tenant),
            again.items,
          ),
    hidden,
  };
}

async function slices(reads: ClusterReads, scope: ListScope): Promise<{ items?: readonly KubeObject[]; error?: EngineError }> {
  try {
    return { items: await reads.list(ENDPOINT_SLICES, scope) };
  } catch (error) {
    if (isEngineError(error, "API_FORBIDDEN", "API_NOT_FOUND")) return { error };
    throw error;
  }
}

/** Says what cannot be known without slices. */
export function tellHiddenSlices(terminal: Terminal, hidden: Visibility["hidden"]): void {
  for (const { side, error } of hidden) {
    const unknown = side === "host" ? "Whether readers on the host see the backends" : "Whether the tenant has backends in slices alone";
    tellWarning(terminal, `${error.code}: ${unknown} is not known: ${error.message}`);
  }
}
