import { sha256Hex } from "../../base/digest.ts";
import type { Chance } from "../../base/chance.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { HoldValue } from "../access/keys/access-keys.ts";
import type { ExpiringRecords } from "../records/expiring-records.ts";

/** Options of {@link createReservedValues}. */
export interface ReservedValuesOptions {
  readonly passing: ExpiringRecords;
  readonly clock: Pick<Clock, "now">;
  readonly chance: Pick<Chance, "uuid">;
  readonly logger: Logger;
}

/** How long a value is reserved, in milliseconds: longer than any write takes. After a crash, no key can get the value for this long. */
const HOLD_MS = 120_000;

/**
 * Reserves values of keys among all processes on a store, one writer at a time. The holder has seen every key that the previous
 * holder wrote.
 */
export function createReservedValues({ passing, clock, chance, logger }: ReservedValuesOptions): HoldValue {
  return async (digest) => {
    const [record, own] = [`key-value-${sha256Hex(digest)}`, chance.uuid()];
    const held = await passing.change<string>(record, (before) => before ?? { value: own, until: clock.now() + HOLD_MS });
    if (held?.value !== own) return undefined;
    return () => {
      passing
        .change<string>(record, (before) => (before?.value === own ? undefined : before))
        .catch((error: unknown) =>
          logger.warn("Cannot release the value of a key; it stays reserved until the reservation expires", { error: messageOf(error) }),
        );
    };
  };
}
