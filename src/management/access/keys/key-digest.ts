import { createHmac, createSecretKey } from "node:crypto";
import type { Chance } from "../../../base/chance.ts";
import { oncePerConnection } from "../../../apiserver/http/limits/connections.ts";
import type { InternalRecords } from "../../records/internal-records.ts";

/** Prefix of a stored digest, so that it is not mistaken for a key. */
const PREFIX = "hmac-sha256:";

/**
 * Turns values of access keys into the digests that are stored. Without the pepper a value cannot be matched to its digest, not even by
 * trying values.
 */
export interface KeyDigest {
  /** @param asker The connection that the value came on: the digest of its last value is cached. Default: no cache. */
  of(value: string, asker?: object): string;
}

/**
 * Computes digests with a pepper. Each installation has its own pepper, which never leaves the installation.
 *
 * @example
 * createKeyDigest(Buffer.alloc(32)).of("secret"); // "hmac-sha256:GBDo00G55h6IiV-6CxqivQPLbI__KzaOZm747971tPs"
 */
export function createKeyDigest(pepper: Uint8Array): KeyDigest {
  // Imported once: importing it for every key takes longer than the digest.
  const key = createSecretKey(pepper);
  return { of: oncePerConnection((value) => `${PREFIX}${createHmac("sha256", key).update(value).digest("base64url")}`) };
}

/** Reports whether a string is a digest, or looks like one. */
export function isDigest(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** The pepper with which access keys are digested. */
export interface Pepper {
  /** Computes digests with the currently stored pepper. */
  readonly digest: KeyDigest;
  /** Stores the pepper again if it is missing, because keys depend on it. */
  keep(): Promise<void>;
  stop(): void;
}

const [KIND, NAME] = ["Pepper", "access-keys"];
const PEPPER_BYTES = 32;

/**
 * Loads the pepper of an installation, or generates one. If data of another installation is restored, digests use its pepper from then on.
 */
export async function followPepper(records: InternalRecords, chance: Pick<Chance, "bytes">): Promise<Pepper> {
  const of = (text: string) => ({ text, digest: createKeyDigest(Buffer.from(text, "base64")) });
  let current = of(await records.add(KIND, NAME, Buffer.from(chance.bytes(PEPPER_BYTES)).toString("base64")));
  const following = await records.follow(KIND, (_name, text) => void (text !== undefined && (current = of(text))));
  return {
    digest: { of: (value, asker) => current.digest.of(value, asker) },
    keep: async () => void (await records.add(KIND, NAME, current.text)),
    stop: () => following.stop(),
  };
}
