const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** The units of a duration below each limit. The second unit, if any, is omitted when its count is zero. */
const STEPS: readonly { readonly below: number; readonly units: readonly [string, number][] }[] = [
  { below: 2 * MINUTE, units: [["s", SECOND]] },
  { below: 10 * MINUTE, units: [["m", MINUTE], ["s", SECOND]] }, // prettier-ignore
  { below: 3 * HOUR, units: [["m", MINUTE]] },
  { below: 8 * HOUR, units: [["h", HOUR], ["m", MINUTE]] }, // prettier-ignore
  { below: 2 * DAY, units: [["h", HOUR]] },
  { below: 8 * DAY, units: [["d", DAY], ["h", HOUR]] }, // prettier-ignore
  { below: 2 * YEAR, units: [["d", DAY]] },
  { below: 8 * YEAR, units: [["y", YEAR], ["d", DAY]] }, // prettier-ignore
  { below: Infinity, units: [["y", YEAR]] },
];

/**
 * Formats a duration with useful precision: about two or three digits. A slightly negative duration, caused by differing clocks,
 * counts as zero. Source of the steps: `HumanDuration` of the API machinery.
 *
 * @param milliseconds The duration in milliseconds.
 * @example
 * humanDuration(200_000); // "3m20s"
 */
export function humanDuration(milliseconds: number): string {
  if (milliseconds <= -2 * SECOND) return "<invalid>";
  const duration = Math.max(0, milliseconds);
  const { units } = STEPS.find(({ below }) => duration < below)!;
  let left = duration;
  const parts = units.map(([unit, length]) => {
    const count = Math.floor(left / length);
    left -= count * length;
    return { count, text: `${count}${unit}` };
  });
  return parts.map(({ count, text }, index) => (index > 0 && count === 0 ? "" : text)).join("");
}
