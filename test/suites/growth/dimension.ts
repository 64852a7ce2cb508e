import type { Answer, Ground, Sent } from "./ground.ts";

/** One way in which the input of the management API can be large. */
export interface Dimension {
  readonly name: string;
  /** The smallest size, the first one that is doubled, and the largest one that is taken. Powers of two apart, but for the smallest. */
  readonly sizes: readonly [smallest: number, first: number, largest: number];
  /** How twice the largest size is answered. Left out where nothing but the number of objects grows, which quotas limit. */
  readonly beyond?: number;
  /** Codes of success. Default: any code below 300. */
  readonly answered?: number;
  /** Maximum steps of any size. Default: the cost of twice the size is judged. */
  readonly stepsMax?: number;
  /** Brings the ground to a size, from the one before, without being measured. Default: nothing. */
  grow?(ground: Ground, size: number, before: number): Promise<void>;
  /** The measured work. Runs twice. */
  work(ground: Ground, size: number): Promise<() => Promise<Answer>> | (() => Promise<Answer>);
}

/** A dimension without its work. */
type Of = Omit<Dimension, "work">;

/** A dimension of one request, which is sent in each size. */
export function ofRequest(dimension: Of, sent: (size: number, ground: Ground) => Sent): Dimension {
  return {
    ...dimension,
    work(ground, size) {
      const bytes = ground.ready(sent(size, ground));
      return () => ground.send(bytes);
    },
  };
}

/** So many items. */
export function many<Item>(count: number, of: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_none, index) => of(index));
}

/** Names in no order, so that sorting them is work; each size begins with those of the smaller ones. */
export function word(index: number): string {
  const scrambled = Math.imul(index + 1, 2_654_435_761) >>> 0;
  return `w${scrambled.toString(36).padStart(7, "0")}`;
}

/** A map with so many entries. */
export function entries<Value>(count: number, value: (index: number) => Value): Record<string, Value> {
  return Object.fromEntries(many(count, (index) => [word(index), value(index)]));
}

/** Where SharedSecrets are. */
export const SECRETS = "/namespaces/default/sharedsecrets";
/** Writes nothing, so that the next size finds the same. */
export const DRY = "dryRun=All&fieldManager=growth";

/** A SharedSecret of the ordinary user's. */
export function secret(spec: object, metadata: object = {}, more: object = {}): object {
  return { metadata: { name: "one", ...metadata }, spec: { owner: { user: "eve" }, ...spec }, ...more };
}
