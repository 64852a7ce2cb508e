import { keyOf, type ObjectKey } from "../../kube/object/key.ts";
import { SERVICES } from "../../kube/object/resource.ts";
import { readInvisible, withoutReason, type Visibility } from "../../engine/sync/inspect/visibility.ts";
import type { Withheld } from "../../engine/sync/inspect/invisible-backends.ts";
import { hostScope } from "../input/followed-cluster.ts";
import { reportWarning } from "../output/messages.ts";
import type { Terminal } from "../process/terminal.ts";
import type { Inspection } from "./inspection.ts";

/** Finds Services, among all or the given ones, whose backends readers on the host do not see. Warns about what it cannot determine. */
export async function inspectVisibility(
  terminal: Terminal,
  { rules, tenant, host, tenantReads, hostReads, engine, clock, fallback }: Inspection,
  services: readonly ObjectKey[] = tenant.source(SERVICES).list().map(keyOf),
  withheld: Withheld = withoutReason(rules),
): Promise<Visibility["invisible"]> {
  const { invisible, hidden } = await readInvisible({
    ...{ rules, services, clock, withheld },
    ...((engine.backends === "auto" || fallback !== undefined) && { auto: "configured" }),
    tenant: { get: (resource, key) => tenant.before(resource, key), reads: tenantReads },
    host: { get: (resource, key) => host.before(resource, key), reads: hostReads, scope: hostScope(engine.translator) },
  });
  for (const { side, error } of hidden) {
    const unknown = side === "host" ? "whether readers on the host see the backends" : "whether the tenant has backends only in slices";
    reportWarning(terminal, `${error.code}: Cannot determine ${unknown}: ${error.message}`);
  }
  return invisible;
}
