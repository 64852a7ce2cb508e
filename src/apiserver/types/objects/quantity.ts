/**
 * Quantities such as "500m" or "1Gi". One amount has many spellings. The API server stores only the canonical one, so that equal amounts
 * have equal texts. Source: `Quantity` of the API machinery.
 *
 * @module
 */

/** An amount: `digits` times ten to the power of `exponent`. */
interface Amount {
  readonly digits: bigint;
  readonly exponent: number;
}

const SPELLING = /^([+-]?)(\d{0,40})(?:\.(\d{0,40}))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d{1,3})?$/;
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, "": 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
/** Exponent of the finest unit, a nano. Finer amounts are rounded up. */
const FINEST = -9;
/** Largest amount. Larger amounts are reduced to it. */
const AMOUNT_MAX = 2n ** 63n - 1n;
const KIBI = 1024n;

/**
 * Returns the canonical spelling of a quantity; undefined when the text is not a quantity.
 *
 * @example
 * canonicalQuantity("0.5"); // "500m"
 * canonicalQuantity("1024Mi"); // "1Gi"
 */
export function canonicalQuantity(text: string): string | undefined {
  const match = SPELLING.exec(text.trim());
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", suffix = ""] = match;
  if (whole === "" && fraction === "") return undefined;
  const amount = amountOf({ digits: BigInt(`${whole}${fraction}` || "0"), exponent: -fraction.length }, suffix);
  if (amount.digits === 0n) return "0";
  const minus = sign === "-" ? "-" : "";
  return `${minus}${suffix.endsWith("i") ? inBinary(amount) : inDecimal(amount, suffix)}`;
}

/** Compares two canonical quantities. The result is negative when the first is smaller. */
export function compareQuantities(left: string, right: string): number {
  const difference = nanosOf(left) - nanosOf(right);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function nanosOf(text: string): bigint {
  const [, sign, whole = "", fraction = "", suffix = ""] = SPELLING.exec(text) ?? ["", "", "0"];
  const { digits, exponent } = amountOf({ digits: BigInt(`${whole}${fraction}` || "0"), exponent: -fraction.length }, suffix);
  const nanos = digits * 10n ** BigInt(exponent - FINEST);
  return sign === "-" ? -nanos : nanos;
}

/** The amount with the suffix applied, within the limits of precision and size. */
function amountOf({ digits, exponent }: Amount, suffix: string): Amount {
  const factor = suffix.endsWith("i") ? KIBI ** BigInt(BINARY.indexOf(suffix)) : 1n;
  const power = suffix.endsWith("i") ? 0 : (DECIMAL[suffix] ?? Number(suffix.slice(1)));
  return limited({ digits: digits * factor, exponent: exponent + power });
}

function limited({ digits, exponent }: Amount): Amount {
  if (digits === 0n) return { digits, exponent: 0 };
  const scale = exponent - FINEST;
  if (scale < 0) return { digits: divideUp(digits, 10n ** BigInt(-scale)), exponent: FINEST };
  const tooMuch =
    exponent > 0 ? digits * 10n ** BigInt(Math.min(exponent, 40)) > AMOUNT_MAX : digits / 10n ** BigInt(-exponent) > AMOUNT_MAX;
  return tooMuch ? { digits: AMOUNT_MAX, exponent: 0 } : { digits, exponent };
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

/** Formats an amount with the largest binary suffix that leaves a whole number. Fractions and amounts below 1024 are written in decimal. */
function inBinary(amount: Amount): string {
  const whole = wholeOf(amount);
  if (whole === undefined || whole < KIBI) return inDecimal(amount, "");
  let value = whole;
  let index = 0;
  for (; index < BINARY.length - 1 && value % KIBI === 0n; index += 1) value /= KIBI;
  return `${value}${BINARY[index]}`;
}

function wholeOf({ digits, exponent }: Amount): bigint | undefined {
  if (exponent >= 0) return digits * 10n ** BigInt(exponent);
  const unit = 10n ** BigInt(-exponent);
  return digits % unit === 0n ? digits / unit : undefined;
}

/** Formats an amount with the largest power of 1000 that leaves a whole number, as an exponent if `suffix` is one, or else as a suffix. */
function inDecimal({ digits, exponent }: Amount, suffix: string): string {
  let value = digits;
  let power = exponent;
  for (; value % 10n === 0n; power += 1) value /= 10n;
  for (; power % 3 !== 0 || power > 18; power -= 1) value *= 10n;
  if (/^[eE][+-]?\d/.test(suffix)) return power === 0 ? `${value}` : `${value}e${power}`;
  return `${value}${Object.keys(DECIMAL).find((name) => DECIMAL[name] === power)!}`;
}
