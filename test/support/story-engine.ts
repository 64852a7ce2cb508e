/**
 * Configuration of a story's engine, and the kinds that a story uses.
 */
import { isRecord } from "../../src/base/json.ts";
import { resolveConfig } from "../../src/engine/config/config.ts";
import { resolveSettings } from "../../src/engine/config/settings.ts";
import { ENDPOINT_SLICES } from "../../src/kube/object/resource.ts";
import type { Story, StoryEngine } from "./scenario.ts";
import { REFERENCED_KINDS } from "./story-objects.ts";

export function engineOptions({ vcluster, services }: Story, { config = {}, patches, settings = {}, confirmDeletes, adopt }: StoryEngine) {
  const resolvedSettings = resolveSettings(settings);
  const optional = { ...(confirmDeletes !== undefined && { confirmDeletes }), ...(adopt !== undefined && { adopt }) };
  if (!resolvedSettings.ok) throw new Error(`The settings are refused: ${JSON.stringify(resolvedSettings.problems)}`);
  const resolved = resolveConfig(withPatches(config, patches), { settings: resolvedSettings.settings, vcluster });
  if (!resolved.ok) throw new Error(`The configuration is refused: ${JSON.stringify(resolved.problems)}`);
  return { config: resolved.config, settings: resolvedSettings.settings, vcluster, services, ...optional };
}

function withPatches(config: Readonly<Record<string, unknown>>, patches: readonly unknown[] | undefined): unknown {
  if (patches === undefined) return config;
  const sync = recordAt(config, "sync");
  const toHost = recordAt(sync, "toHost");
  return { ...config, sync: { ...sync, toHost: { ...toHost, endpoints: { ...recordAt(toHost, "endpoints"), patches } } } };
}

function recordAt(value: Readonly<Record<string, unknown>>, field: string): Record<string, unknown> {
  const found = value[field];
  return isRecord(found) ? found : {};
}

/** Slices count where the story syncs them or speaks of them; elsewhere they only follow Endpoints. */
export function tellsOfSlices({ config, want }: Story): boolean {
  const ids = [...Object.keys(want.host), ...Object.keys(want.tenant ?? {})];
  return (
    recordAt(recordAt(config ?? {}, "sync"), "toHost")["endpointSlices"] !== undefined ||
    ids.some((id) => id.startsWith(ENDPOINT_SLICES.kind))
  );
}

/** Secrets and ConfigMaps count where the story speaks of one. */
export function tellsOfReferences({ tenant, host, want }: Story): boolean {
  const ids = [tenant, host, want.host, want.tenant ?? {}].flatMap((objects) => Object.keys(objects));
  return ids.some((id) => REFERENCED_KINDS.some(({ kind }) => id.startsWith(`${kind} `)));
}
