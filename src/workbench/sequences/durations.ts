const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Converts a duration such as "500ms", "10s" or "1m30s" to whole milliseconds. Any other text becomes 0.
 *
 * @example
 * parseDuration("1m30s"); // 90000
 */
export function parseDuration(text: string): number {
  const parts = [...text.matchAll(/([0-9]+(?:[.][0-9]+)?)(ms|s|m|h)/g)];
  return Math.round(parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit!]!, 0));
}

/**
 * A time in seconds, for messages and timelines.
 *
 * @example
 * formatSeconds(1500); // "1.5s"
 */
export function formatSeconds(ms: number): string {
  return `${ms / 1_000}s`;
}
