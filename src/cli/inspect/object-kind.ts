import { EngineError } from "../../base/errors.ts";
import type { ResourceType } from "../../kube/object/resource.ts";

/** Short names as kubectl has them. */
const SHORT_NAMES: Readonly<Record<string, string>> = { ep: "endpoints", svc: "services", cm: "configmaps" };

/**
 * A kind by any of its names: kind, plural, singular or short name, in upper or lower case.
 *
 * @throws USAGE when none of `kinds` has that name.
 * @example
 * findKind("svc", [SERVICES, ENDPOINTS]).kind; // "Service"
 */
export function findKind(name: string, kinds: readonly ResourceType[]): ResourceType {
  const wanted = name.toLowerCase();
  const plural = Object.hasOwn(SHORT_NAMES, wanted) ? SHORT_NAMES[wanted] : wanted;
  const found = kinds.find((kind) => kind.plural === plural || kind.kind.toLowerCase() === wanted);
  if (found !== undefined) return found;
  throw new EngineError("USAGE", `There is no kind "${name}" here; there are ${kinds.map(({ plural: one }) => one).join(", ")}`);
}
