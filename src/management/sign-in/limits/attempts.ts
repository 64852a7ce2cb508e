import type { Clock } from "../../../base/clock.ts";

/** Counts failed attempts by subject. */
export interface Attempts {
  /** Seconds until the subject may try again; undefined when it may now. */
  wait(subject: string): Promise<number | undefined>;
  /**
   * Counts an attempt before its outcome is known, so that concurrent ones count too. Returns false, and counts nothing, if there were too
   * many.
   */
  begin(subject: string): Promise<boolean>;
  /** Takes back an attempt that did not fail. */
  refund(subject: string): Promise<void>;
  /** Clears the count of the subject. */
  forget(subject: string): Promise<void>;
}

/** Options of {@link createAttempts}. */
export interface AttemptsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Number of failures after which further attempts are refused. */
  readonly max: number;
  /** How long failures count, from the first of them, in milliseconds. */
  readonly windowMs: number;
  /** Maximum number of subjects. Beyond it, the subject with the oldest window is dropped. Default 100,000. */
  readonly subjectsMax?: number;
}

const SUBJECTS_MAX = 100_000;

/**
 * Creates an empty record of failures.
 *
 * @example
 * const attempts = createAttempts({ clock: systemClock, max: 1, windowMs: 60_000 });
 * await attempts.begin("jane"); // true
 * await attempts.wait("jane"); // 60
 */
export function createAttempts({ clock, max, windowMs, subjectsMax = SUBJECTS_MAX }: AttemptsOptions): Attempts {
  // In the order of their windows' ends.
  const windows = new Map<string, { count: number; readonly until: number }>();
  const open = (subject: string) => {
    const window = windows.get(subject);
    if (window !== undefined && window.until > clock.monotonic()) return window;
    windows.delete(subject);
    return undefined;
  };
  return {
    async wait(subject) {
      const window = open(subject);
      return window === undefined || window.count < max ? undefined : Math.ceil((window.until - clock.monotonic()) / 1_000);
    },
    async begin(subject) {
      const window = open(subject);
      if (window !== undefined && window.count >= max) return false;
      if (window !== undefined) window.count++;
      else windows.set(subject, { count: 1, until: clock.monotonic() + windowMs });
      if (windows.size > subjectsMax) windows.delete(windows.keys().next().value!);
      return true;
    },
    async refund(subject) {
      const window = open(subject);
      if (window !== undefined && --window.count <= 0) windows.delete(subject);
    },
    async forget(subject) {
      windows.delete(subject);
    },
  };
}

/**
 * The unit that counts as one address: an IPv4 address, or the /64 of an IPv6 address, because one machine can use all addresses of a /64.
 *
 * @example
 * addressSubject("2001:db8::1"); // "2001:db8:0:0"
 */
export function addressSubject(address: string): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, "");
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  return [...left, ...zeros, ...right].slice(0, 4).join(":");
}
