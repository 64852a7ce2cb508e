import type { BackendsMode } from "../../../engine/config/backends-mode.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES, type ResourceType } from "../../../kube/object/resource.ts";
import type { DeleteBrakeLimits } from "../../../engine/reconcile/delete-brake-limits.ts";
import type { ReferenceRules } from "../../../engine/reconcile/references/reference-rules.ts";
import type { Rules, SyncedKind } from "../../../engine/reconcile/rules/rules.ts";
import { createRandom, type Random } from "./random.ts";
import type { LoopGuardLimits } from "../../../engine/sync/guards/loop-guard.ts";

/** One configuration as a replica runs it. */
export interface Generation {
  /** One entry per synced kind. */
  readonly rules: readonly Rules[];
  /** The meaning of the setting `backends` together with the sections. Needed only if it changes. */
  readonly backends?: BackendsMode;
  readonly loopGuard: LoopGuardLimits;
  /** Default: the engine's own. */
  readonly deleteBrake?: DeleteBrakeLimits;
  /** Absent if no referenced objects are copied. */
  readonly references?: ReferenceRules | undefined;
}

/** The input of a simulation: a configuration, and those that may follow it. All share names and markers. */
export interface Setting {
  readonly name: string;
  /** At least one. */
  readonly generations: readonly Generation[];
  /** True if writes may never stop. */
  readonly restless?: boolean | undefined;
  /** True if the setting `backends` is simulated too: it may change, and the host mirrors regardless of its value. */
  readonly choosesBackends?: boolean | undefined;
  /** True if the tenant has Pods, a mirror, and two address families. */
  readonly pods?: boolean | undefined;
  /** True if the host has copies at places to which their objects do not translate. */
  readonly orphans?: boolean | undefined;
  /** Share of the seeds that use this setting, drawn separately from the others. */
  readonly share?: number | undefined;
}

/** Makes the random numbers for shares independent of all others. */
const SHARES = 0x5eed;

/** Draws the setting of one seed. Settings with a share are drawn from a separate random stream; the others share the rest equally. */
export function drawSetting(random: Random, seed: number, settings: readonly Setting[]): Setting {
  const equal = settings.filter(({ share }) => share === undefined);
  if (equal.length === 0) return random.pick(settings);
  const drawn = random.pick(equal);
  let left = createRandom(seed ^ SHARES).fraction();
  for (const setting of settings) if ((left -= setting.share ?? 0) < 0) return setting;
  return drawn;
}

/** Reports whether the view of readers on the host is checked in this setting. */
export function hasReaders({ choosesBackends, generations }: Setting): boolean {
  return choosesBackends === true || generations.some(({ rules }) => rules.some(({ decidesBackends }) => decidesBackends === true));
}

/** The kinds that a setting uses: the synced ones, Services, and those that objects only refer to. */
export function resourcesOf(setting: Setting): readonly ResourceType[] {
  const all = setting.generations.flatMap(({ rules }) => rules.map(({ kind }) => kind.resource));
  const mirrored = setting.choosesBackends === true ? [ENDPOINT_SLICES] : [];
  return unique([...all, SERVICES, ...referencedOf(setting), ...mirrored]);
}

/** Kinds that have users of their own; all others are handled generically. */
const WITH_OWN_USERS: readonly ResourceType[] = [ENDPOINTS, SERVICES, ENDPOINT_SLICES];

/** The synced kinds that the simulation handles generically, from their registry entries. */
export function plainKindsOf({ generations }: Setting): readonly SyncedKind[] {
  const all = new Set(generations.flatMap(({ rules }) => rules.map(({ kind }) => kind)));
  return [...all].filter(({ resource }) => !WITH_OWN_USERS.includes(resource));
}

/** The kinds that objects only refer to. */
export function referencedOf({ generations }: Setting): readonly ResourceType[] {
  return unique(generations.flatMap(({ references }) => references?.kinds.map(({ resource }) => resource) ?? []));
}

function unique(resources: readonly ResourceType[]): readonly ResourceType[] {
  return [...new Map(resources.map((resource) => [resource.plural, resource])).values()];
}
