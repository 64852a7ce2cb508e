/**
 * The sign-in key, as a platform returns it and as a file stores it. Both sources are untrusted, and the key is passed on to
 * terminals, kubeconfigs and kubectl.
 *
 * @module
 */

/** The sign-in key. */
export interface LoginKey {
  readonly accessKey: string;
  /** The name of its OwnedAccessKey. */
  readonly name: string;
  /** Its expiry time in RFC 3339; undefined if the key does not expire. */
  readonly expiresAt: string | undefined;
}

/** Characters that are allowed in a header. */
const ACCESS_KEY = /^[\x21-\x7e]{1,4096}$/;
/** The name of an object. */
const NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;
/** The only form of a time that kubectl accepts. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Reads a key; undefined for anything that is not one.
 *
 * @example
 * readLoginKey({ accessKey: "k", name: "login-a", expiresAt: "2026-01-21T00:00:00Z" })?.name; // "login-a"
 */
export function readLoginKey({ accessKey, name, expiresAt }: Readonly<Record<string, unknown>>): LoginKey | undefined {
  if (typeof accessKey !== "string" || !ACCESS_KEY.test(accessKey) || typeof name !== "string" || !NAME.test(name)) return undefined;
  if (expiresAt === undefined || expiresAt === null) return { accessKey, name, expiresAt: undefined };
  return typeof expiresAt === "string" && isTime(expiresAt) ? { accessKey, name, expiresAt } : undefined;
}

/** Rejects days that do not exist, which would be parsed as a later day. */
function isTime(text: string): boolean {
  const day = text.slice(0, 10);
  return TIME.test(text) && !Number.isNaN(Date.parse(text)) && new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}
