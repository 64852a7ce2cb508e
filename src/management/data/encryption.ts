import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import type { Chance } from "../../base/chance.ts";
import { EngineError } from "../../base/errors.ts";
import type { Cipher, SealingKeys } from "../../apiserver/store/cipher.ts";

/** Options of {@link createCipher}. */
export interface CipherOptions {
  /**
   * Keys of {@link ENCRYPTION_KEY_BYTES} bytes each. Values are encrypted with the first key and decrypted with any of them, so that keys
   * can be replaced.
   */
  readonly keys: readonly Uint8Array[];
  readonly chance: Pick<Chance, "bytes">;
}

/** Length of a key. */
export const ENCRYPTION_KEY_BYTES = 32;
const ALGORITHM = "aes-256-gcm";
const PREFIX = "aesgcm1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ID_LENGTH = 8;
/** Without this option, shorter tags would be accepted, which are easier to forge. */
const TAG = { authTagLength: TAG_BYTES } as const;
/** 32 bytes in base64. Stricter than the decoder, which would turn a text with errors into a different key. */
const ENCODED_KEY = /^[A-Za-z0-9+/]{43}=$/;

/**
 * Encrypts with AES-256-GCM and a random nonce for each value.
 *
 * @throws CONFIG_VALUE when there is no key, or one has a length other than {@link ENCRYPTION_KEY_BYTES}.
 * @example
 * const cipher = createCipher({ keys: [Buffer.alloc(32)], chance: systemChance });
 * cipher.open("/a", cipher.seal("/a", "text")); // "text"
 */
export function createCipher({ keys, chance }: CipherOptions): Cipher & { readonly keys: SealingKeys } {
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const [first] = keys;
  if (first === undefined || keys.some(({ length }) => length !== ENCRYPTION_KEY_BYTES)) {
    throw new EngineError("CONFIG_VALUE", `An encryption key must have ${ENCRYPTION_KEY_BYTES} bytes`, { details: { hint: HOW } });
  }
  const firstId = idOf(first);
  return {
    keys: { first: firstId, all: keys.map(idOf), sealerOf },
    seal(place, text) {
      const nonce = chance.bytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, first, nonce, TAG).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${PREFIX}:${firstId}:${sealed.toString("base64url")}`;
    },
    open(place, sealed) {
      const [prefix, id = "", content = ""] = sealed.split(":");
      const key = prefix === PREFIX ? byId.get(id) : undefined;
      if (key === undefined) throw keyMissing(sealed);
      const bytes = Buffer.from(content, "base64url");
      try {
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), TAG).setAAD(Buffer.from(place));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        return `${decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)).toString("utf8")}${decipher.final("utf8")}`;
      } catch {
        throw unreadable("it was changed or moved", "Restore the data from a backup");
      }
    },
  };
}

const HOW = "Generate one with: head -c 32 /dev/urandom | base64";

/** The id of the key that encrypted a text; "" for an unencrypted text. */
function sealerOf(sealed: string): string {
  return new RegExp(`^${PREFIX}:([0-9a-f]{${ID_LENGTH}}):`).exec(sealed)?.[1] ?? "";
}

function keyMissing(sealed: string): EngineError {
  const id = sealerOf(sealed);
  if (id === "") return unreadable("it was not encrypted with any of the available keys");
  const message = `Cannot read the stored data: it was encrypted with the key ${id}, which is not available`;
  const hint = `Add the key ${id} as another line to the encryption keys, and keep it until platform-data keys reports that no data is encrypted with it`;
  return new EngineError("STORE_FAILED", message, { details: { hint, key: id } });
}

function unreadable(why: string, hint = "Use the encryption key that the data was encrypted with"): EngineError {
  return new EngineError("STORE_FAILED", `Cannot read the stored data: ${why}`, { details: { hint } });
}

/** Identifies a key without revealing anything about it. */
function idOf(key: Uint8Array): string {
  return createHash("sha256").update("endpoint-sync key id").update(key).digest("hex").slice(0, ID_LENGTH);
}

/**
 * Parses encryption keys: one base64-encoded key of 32 bytes per line, the newest first. Blank lines are ignored.
 *
 * @throws CONFIG_VALUE when a line is not a key, or there is no key.
 * @example
 * parseEncryptionKeys("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="); // one key of 32 zeros
 */
export function parseEncryptionKeys(text: string): readonly Uint8Array[] {
  const lines = text.split("\n").map((line) => line.trim());
  const keys = lines.filter((line) => line !== "");
  const wrong = lines.findIndex((line) => line !== "" && !ENCODED_KEY.test(line));
  if (keys.length > 0 && wrong < 0) return keys.map((line) => Buffer.from(line, "base64"));
  const what =
    keys.length === 0
      ? "There is no encryption key"
      : `Line ${wrong + 1} is not an encryption key: it must be ${ENCRYPTION_KEY_BYTES} bytes in base64`;
  throw new EngineError("CONFIG_VALUE", what, { details: { hint: HOW } });
}
