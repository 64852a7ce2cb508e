const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Converts a duration in the format of Go, such as `90s` or `1h30m`, to milliseconds. Returns undefined for an empty or invalid string.
 *
 * @example
 * durationMs("1m30s"); // 90000
 */
export function durationMs(text: string): number | undefined {
  const parts = [...text.matchAll(/([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text) return undefined;
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS_MS[unit!]!, 0);
}
