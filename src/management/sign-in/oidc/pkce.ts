import { hash, timingSafeEqual } from "node:crypto";
import type { Chance } from "../../../base/chance.ts";

const SECRET_BYTES = 32;

/** A random text that cannot be guessed: 256 bits in 43 characters that are safe in URLs. */
export function secretText(chance: Pick<Chance, "bytes">): string {
  return Buffer.from(chance.bytes(SECRET_BYTES)).toString("base64url");
}

/** The challenge for `verifier`: its SHA-256, which later proves that the sender knew it. Source: RFC 7636, method S256. */
export function challengeOf(verifier: string): string {
  return hash("sha256", verifier, "base64url");
}

/** Reports whether `challenge` belongs to `verifier`. Compares them in constant time. */
export function isChallengeOf(challenge: string, verifier: string): boolean {
  const [given, made] = [Buffer.from(challenge), Buffer.from(challengeOf(verifier))];
  return given.length === made.length && timingSafeEqual(given, made);
}

/** Reports whether a string can be an S256 challenge. */
export function isChallenge(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}
