import { randomBytes, randomUUID } from "node:crypto";

/** Randomness as a dependency, so that tests and the simulator control it. */
export interface Chance {
  /** A number in [0, 1). */
  fraction(): number;
  /** A random UUID (version 4). */
  uuid(): string;
  /** `length` random bytes, suitable for keys. */
  bytes(length: number): Uint8Array;
}

/** The system's source of randomness. */
export const systemChance: Chance = {
  fraction: () => Math.random(),
  uuid: () => randomUUID(),
  bytes: (length) => randomBytes(length),
};
