import type { Clock } from "../../base/clock.ts";
import type { InternalRecords } from "./internal-records.ts";

/** A value that expires. It is stored as JSON. */
export interface Passing<Value> {
  readonly value: Value;
  /** When it expires, in milliseconds since 1970. */
  readonly until: number;
}

/**
 * Records that several processes share and that expire. The clock of the reading process decides, so a record expires earlier or later
 * by the difference of the clocks. An expired record counts as removed; the next sweep removes it.
 */
export interface ExpiringRecords {
  /** Stores the record in place of any earlier one. */
  put<Value>(name: string, passing: Passing<Value>): Promise<void>;
  get<Value>(name: string): Promise<Passing<Value> | undefined>;
  /** Removes the record and returns it. Only one of several concurrent callers gets it. */
  take<Value>(name: string): Promise<Passing<Value> | undefined>;
  /** Like `InternalRecords.change`. */
  change<Value>(
    name: string,
    next: (before: Passing<Value> | undefined) => Passing<Value> | undefined,
  ): Promise<Passing<Value> | undefined>;
  /** Removes expired records. */
  sweep(): Promise<void>;
}

const KIND = "Passing";

/**
 * Keeps expiring records among the internal records.
 *
 * @example
 * await createExpiringRecords({ records, clock }).put("code-1f2e", { value: "jane", until: clock.now() + 60_000 });
 */
export function createExpiringRecords(options: { readonly records: InternalRecords; readonly clock: Pick<Clock, "now"> }): ExpiringRecords {
  const { records, clock } = options;
  const read = <Value>(data: string | undefined): Passing<Value> | undefined => {
    const passing = data === undefined ? undefined : (JSON.parse(data) as Passing<Value>);
    return passing !== undefined && clock.now() < passing.until ? passing : undefined;
  };
  return {
    async put(name, passing) {
      await records.change(KIND, name, () => JSON.stringify(passing));
    },
    get: async (name) => read(await records.get(KIND, name)),
    take: async (name) => read(await records.take(KIND, name)),
    async change<Value>(name: string, next: (before: Passing<Value> | undefined) => Passing<Value> | undefined) {
      return read<Value>(
        await records.change(KIND, name, (before) => {
          const passing = next(read(before));
          return passing && JSON.stringify(passing);
        }),
      );
    },
    async sweep() {
      for (const { name } of (await records.list(KIND)).filter(({ data }) => read(data) === undefined)) {
        await records.change(KIND, name, (data) => (read(data) === undefined ? undefined : data));
      }
    },
  };
}
