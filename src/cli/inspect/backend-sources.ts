/**
 * Reports, for each Service, from which slices readers on the host get its backends.
 *
 * @module
 */
import { isEngineError } from "../../base/errors.ts";
import { sourcesOfServices, type ServiceSources } from "../../engine/sync/inspect/backend-sources.ts";
import { formatKey, keyOf, type ObjectKey } from "../../kube/object/key.ts";
import { ENDPOINT_SLICES, SERVICES } from "../../kube/object/resource.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { hostScope } from "../input/followed-cluster.ts";
import { formatTable } from "../output/table.ts";
import type { Inspection } from "./inspection.ts";

/** Maximum number of Services that are named for each source. */
const NAMED_MAX = 3;

/** The slices on the host, and their sources by Service. */
export interface HostReaders {
  readonly slices: readonly KubeObject[];
  /** Services that the host has, in the order of their names. */
  readonly services: readonly ServiceSources[];
}

/** Reads the current slices of the host, without the changes that a run would make; undefined if reading them is not allowed. */
export async function inspectReaders(
  { rules, tenant, host, hostReads, engine }: Inspection,
  services: readonly ObjectKey[] = tenant.source(SERVICES).list().map(keyOf),
): Promise<HostReaders | undefined> {
  try {
    const slices = await hostReads.list(ENDPOINT_SLICES, hostScope(engine.translator));
    const found = rules[0] === undefined ? [] : sourcesOfServices(rules[0], slices, services);
    const standing = found.filter((one) => host.before(SERVICES, one.host) !== undefined);
    return { slices, services: standing.sort((one, other) => (formatKey(one.tenant) < formatKey(other.tenant) ? -1 : 1)) };
  } catch (error) {
    if (isEngineError(error, "API_FORBIDDEN", "API_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** The table of the sources of slices on the host; empty if there are no Services. */
export function describeReaders(services: readonly ServiceSources[]): string {
  const rows = [...groupsOf(services)].map(([who, group]) => rowOf(who, group));
  return rows.length === 0 ? "" : section([["SOURCE", "SERVICES", "READY", "NAMES"], ...rows]);
}

/** A summary of that table in one sentence, with a space before it. */
export function summariseReaders(services: readonly ServiceSources[]): string {
  const parts = [...groupsOf(services)].map(
    ([
      who,
      {
        services: { length },
      },
    ]) => `of ${length} Service${length === 1 ? "" : "s"} from ${who}`,
  );
  return parts.length === 0 ? "" : ` Readers on the host get the backends ${parts.join(", ")}.`;
}

interface SourceGroup {
  ready: number;
  readonly services: string[];
}

function groupsOf(services: readonly ServiceSources[]): ReadonlyMap<string, SourceGroup> {
  const groups = new Map<string, SourceGroup>();
  for (const { tenant, sources } of services) {
    const who = sources.map((source) => source.who).join(", and ");
    const group = groups.get(who) ?? { ready: 0, services: [] };
    group.ready += Math.max(...sources.map(({ ready }) => ready));
    group.services.push(formatKey(tenant));
    groups.set(who, group);
  }
  return new Map([...groups].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function rowOf(who: string, { ready, services }: SourceGroup): string[] {
  const named = services.slice(0, NAMED_MAX).join(", ");
  return [who, `${services.length}`, `${ready}`, services.length > NAMED_MAX ? `${named}, …` : named];
}

/** The slices of one Service on the host, by their source. */
export function describeSources({ sources }: ServiceSources): string {
  return section([["SLICES", "READY", "SOURCE"], ...sources.map(({ who, slices, ready }) => [`${slices}`, `${ready}`, who])]);
}

function section(rows: readonly (readonly string[])[]): string {
  return `\nSources of the backends that readers on the host see\n${formatTable(rows).replace(/^/gm, "  ").trimEnd()}\n`;
}
