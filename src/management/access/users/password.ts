import { scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { Chance } from "../../../base/chance.ts";
import { PASSWORD_LENGTH_MAX } from "../../config/limits.ts";

/** Cost of one digest: 16 MiB and some tens of milliseconds. Source: RFC 7914, section 2, for interactive use. */
const COST = { N: 16_384, r: 8, p: 1 } as const;
const PREFIX = "scrypt:";
const SALT_BYTES = 16;
const DIGEST_BYTES = 32;

const derive = promisify<string, Buffer, number, typeof COST, Buffer>(scrypt);

/** The digest of a password, as stored. */
export async function passwordDigest(password: string, chance: Pick<Chance, "bytes">): Promise<string> {
  const salt = Buffer.from(chance.bytes(SALT_BYTES));
  const derived = await derive(password, salt, DIGEST_BYTES, COST);
  return `${PREFIX}${salt.toString("base64url")}:${derived.toString("base64url")}`;
}

function partsOf(digest: string): { readonly salt: Buffer; readonly known: Buffer } {
  const [salt = "", hash = ""] = digest.slice(PREFIX.length).split(":");
  return { salt: Buffer.from(salt, "base64url"), known: Buffer.from(hash, "base64url") };
}

/** Reports whether a string is a digest, or looks like one. */
export function isPasswordDigest(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** The digest of a password that no user has, so that the check of an unknown user takes as long as that of a known one. */
export const NOBODYS_DIGEST = `${PREFIX}${"A".repeat(22)}:${"A".repeat(43)}`;

/**
 * Reports whether a password matches a digest. It takes the same time for every password.
 *
 * @example
 * await passwordFits("secret", await passwordDigest("secret", systemChance)); // true
 */
export async function passwordFits(password: string, digest: string): Promise<boolean> {
  const { salt, known } = partsOf(digest);
  if (password.length > PASSWORD_LENGTH_MAX || known.length !== DIGEST_BYTES) return false;
  return timingSafeEqual(await derive(password, salt, DIGEST_BYTES, COST), known);
}
