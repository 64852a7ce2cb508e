/**
 * Previews what the engine of a world would do next, with read-only clients.
 *
 * @module
 */
import { inspect, type ReadClient } from "../../src/cli/inspect/inspection.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import type { PlannedWrite, Preview } from "../../src/engine/sync/inspect/preview.ts";
import type { Story, StoryWrites } from "./scenario.ts";
import type { World } from "./world.ts";

/** A client with nothing but reads: anyone who wants to write finds no method. */
function readOnly(client: ClusterClient): ReadClient {
  return { get: (resource, key) => client.get(resource, key), list: (resource, options) => client.list(resource, options) };
}

export async function previewOf({ clients, options, clock }: World): Promise<Preview> {
  const signal = new AbortController().signal;
  const inspection = await inspect({ ...options, tenant: readOnly(clients.tenant), host: readOnly(clients.host), signal, clock });
  try {
    return await inspection.preview();
  } finally {
    inspection.dispose();
  }
}

/** Writes by cluster. Only the host's API server knows what it takes for invalid, so what it refuses in this story does not count. */
export function acceptedWrites({ want }: Story, writes: readonly PlannedWrite[]): StoryWrites {
  const refused = Object.entries(want.notes ?? {}).flatMap(([object, notes]) =>
    notes.includes("API_INVALID") ? [object.split(" ")[1]] : [],
  );
  const accepted = writes.filter(({ id }) => !refused.includes(id.split("|")[1]));
  const on = (side: "host" | "tenant") => accepted.filter(({ operation }) => operation.side === side).length;
  return { host: on("host"), tenant: on("tenant") };
}
