/**
 * The condition of a SharedSecret that reports whether it matches the vault. Pure.
 *
 * @module
 */
import type { KubeObject } from "../../kube/object/types.ts";
import type { VaultResult } from "./vault-values.ts";

const VAULT_CONDITION = "VaultSynced";
/** Most skipped names that are reported. */
const NAMED_MAX = 5;

/** A condition of an object. */
interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** The conditions of an object. */
export function conditionsOf(object: KubeObject): readonly Condition[] {
  return (object["status"] as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
}

/** Reports whether the object is already a copy. */
export function hasVaultCondition(object: KubeObject): boolean {
  return conditionsOf(object).some(({ type }) => type === VAULT_CONDITION);
}

/**
 * The conditions of the object with the vault's condition replaced by `next`, or without it if `next` is undefined. An unchanged status
 * keeps its time.
 */
export function nextVaultConditions(object: KubeObject, next: Omit<Condition, "type"> | undefined, now: string): readonly Condition[] {
  const others = conditionsOf(object).filter(({ type }) => type !== VAULT_CONDITION);
  if (next === undefined) return others;
  const before = conditionsOf(object).find(({ type }) => type === VAULT_CONDITION);
  const lastTransitionTime = before?.status === next.status ? (before.lastTransitionTime ?? now) : now;
  return [...others, { type: VAULT_CONDITION, lastTransitionTime, ...next }];
}

/** Details that a condition reports in addition to the outcome. */
export interface VaultConditionDetails {
  /** The secret of the vault, by engine, mount and path. */
  readonly place: string | undefined;
  /** Why the token is not renewed; undefined if there is nothing to report. */
  readonly warning: string | undefined;
}

/** The condition for an outcome. */
export function vaultCondition(result: VaultResult, { place, warning }: VaultConditionDetails): Omit<Condition, "type"> {
  if (!result.ok) return { status: "False", reason: result.reason, message: `${result.message}; the data does not change` };
  const { version, leftOut } = result;
  const of = version === undefined ? "" : `, version ${version}`;
  const names = leftOut.slice(0, NAMED_MAX).map((name) => JSON.stringify(name.slice(0, 60)));
  const more = leftOut.length > NAMED_MAX ? ` and ${leftOut.length - NAMED_MAX} others` : "";
  const without = leftOut.length === 0 ? "" : `, without ${names.join(", ")}${more}: a Secret cannot have such keys`;
  const message = `${place}${of}${without}`;
  if (warning !== undefined) return { status: "True", reason: "TokenNotRenewed", message: `${message}; ${warning}` };
  return { status: "True", reason: "Copied", message };
}
