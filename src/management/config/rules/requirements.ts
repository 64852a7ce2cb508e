/**
 * Computing resources of containers: amounts, and how requests relate to limits.
 *
 * @module
 */
import { canonicalQuantity, compareQuantities } from "../../../apiserver/types/objects/quantity.ts";
import { spotBelow, isWritten, membersOf, refuseAt, type Spot } from "./spot.ts";

/** Resource requirements as written in the file. */
export interface WrittenRequirements {
  readonly requests?: Readonly<Record<string, unknown>>;
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly claims?: readonly { readonly name?: string; readonly request?: string }[];
}

/** Resource requirements, with amounts in the canonical spelling of Kubernetes. */
export interface Requirements extends WrittenRequirements {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

/** Checks amounts, and that no request exceeds its limit. */
export function checkRequirements(requirements: Spot): void {
  const limits = new Map(checkedAmounts(spotBelow(requirements, "limits")).map(({ name, amount }) => [name, amount]));
  for (const { name, amount, spot } of checkedAmounts(spotBelow(requirements, "requests"))) {
    const limit = limits.get(name);
    if (limit === undefined || compareQuantities(amount, limit) <= 0) continue;
    refuseAt(spot, { message: `Expected at most the limit ${limit}, found ${amount}` });
  }
}

function checkedAmounts(amounts: Spot): { name: string; amount: string; spot: Spot }[] {
  return membersOf(amounts).flatMap(([name, spot]) => {
    const amount = spot.node?.kind === "scalar" ? amountOf(spot.node.value) : undefined;
    if (amount !== undefined && !amount.startsWith("-")) return [{ name, amount, spot }];
    refuseAt(spot, { message: isWritten(spot) ? "Expected an amount such as 500m or 2Gi" : "Expected an amount, found nothing" });
    return [];
  });
}

/** The canonical spelling of a text or a number. */
function amountOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? canonicalQuantity(String(value)) : undefined;
}

/** The effective requirements: absent requests equal the limits. */
export function effectiveRequirements({ requests, limits, claims }: WrittenRequirements): Requirements {
  const wanted = requests === undefined && limits === undefined ? undefined : { ...limits, ...requests };
  return {
    ...(wanted !== undefined && { requests: canonical(wanted) }),
    ...(limits !== undefined && { limits: canonical(limits) }),
    ...(claims !== undefined && { claims }),
  };
}

function canonical(amounts: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const result = Object.create(null) as Record<string, string>;
  for (const [name, amount] of Object.entries(amounts)) result[name] = amountOf(amount) ?? "0";
  return result;
}
