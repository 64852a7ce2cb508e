import { hash, timingSafeEqual } from "node:crypto";
import type { Chance } from "../../../base/chance.ts";

const SECRET_BYTES = 32;

/** A text that nobody guesses: 43 characters for addresses, 256 bits. */
export function secretText(chance: Pick<Chance, "bytes">): string {
  return Buffer.from(chance.bytes(SECRET_BYTES)).toString("base64url");
}

/** What proves later that one knew `verifier` before: its SHA-256. Source: RFC 7636, method S256. */
export function challengeOf(verifier: string): string {
  return hash("sha256", verifier, "base64url");
}

/** Whether `challenge` was made of `verifier`, in a time that does not depend on where they differ. */
export function isChallengeOf(challenge: string, verifier: string): boolean {
  const [given, made] = [Buffer.from(challenge), Buffer.from(challengeOf(verifier))];
  return given.length === made.length && timingSafeEqual(given, made);
}

/** Whether a text can be an S256 challenge at all. */
export function isChallenge(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}
