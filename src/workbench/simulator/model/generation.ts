import type { ResourceType } from "../../../kube/object/resource.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../kube/object/resource.ts";
import type { DeleteBrakeLimits } from "../../../engine/reconcile/delete-brake-limits.ts";
import type { ReferenceRules } from "../../../engine/reconcile/references/reference-rules.ts";
import type { Rules, SyncedKind } from "../../../engine/reconcile/rules/rules.ts";
import type { LoopGuardLimits } from "../../../engine/sync/guards/loop-guard.ts";

/** One configuration as a replica runs it. */
export interface Generation {
  /** One entry per synced kind. */
  readonly rules: readonly Rules[];
  readonly loopGuard: LoopGuardLimits;
  /** Default: the engine's own. */
  readonly deleteBrake?: DeleteBrakeLimits;
  /** Left out, nothing that objects refer to is brought across. */
  readonly references?: ReferenceRules | undefined;
}

/** What a simulation runs: a configuration, and the ones that may follow it. All share names and markers. */
export interface Setting {
  readonly name: string;
  /** At least one. */
  readonly generations: readonly Generation[];
  /** Writes may go on without end. */
  readonly restless?: boolean | undefined;
}

/** The kinds that a setting uses: the synced ones, Services, and those that objects only refer to. */
export function resourcesOf(setting: Setting): readonly ResourceType[] {
  const all = setting.generations.flatMap(({ rules }) => rules.map(({ kind }) => kind.resource));
  return unique([...all, SERVICES, ...referencedOf(setting)]);
}

/** Kinds of which people of a simulation do things that no other kind knows. */
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
