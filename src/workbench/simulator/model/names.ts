import type { ObjectKey } from "../../../kube/object/key.ts";
import type { Random } from "./random.ts";

/** A tenant key that actors write to. */
export type TenantName = ObjectKey;

const PLAIN: readonly TenantName[] = [
  { namespace: "shop", name: "web" },
  { namespace: "shop", name: "db" },
  { namespace: "test", name: "web" },
];

/** Two keys that translate to the same host name. */
const COLLIDING: readonly TenantName[] = [
  { namespace: "c", name: "a-x-b" },
  { namespace: "b-x-c", name: "a" },
];

/** The keys of one seed: one to three, sometimes a pair that collides. */
export function drawNames(random: Random): readonly TenantName[] {
  if (random.happens(0.12)) return COLLIDING;
  return PLAIN.slice(0, 1 + random.below(PLAIN.length));
}
