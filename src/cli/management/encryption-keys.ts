import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { systemChance } from "../../base/chance.ts";
import { EngineError, messageOf } from "../../base/errors.ts";
import { createCipher, ENCRYPTION_KEY_BYTES, parseEncryptionKeys } from "../../management/data/encryption.ts";
import type { Cipher, SealingKeys } from "../../apiserver/store/cipher.ts";
import { writeKeptFile } from "../files/kept-file.ts";
import type { Terminal } from "../process/terminal.ts";

/** The places to look for keys. */
export interface EncryptionKeyOptions {
  /** File with the encryption keys. Default: the variable {@link ENCRYPTION_KEY_VARIABLE}. */
  readonly file?: string | undefined;
  /** Folder that may contain a key next to its data. */
  readonly folder?: string | undefined;
  readonly terminal: Pick<Terminal, "read" | "env">;
}

/** Cipher for the data of the management API. */
export interface PlatformCipher {
  readonly cipher: Cipher & { readonly keys: SealingKeys };
  /** True if the key is stored next to the data that it encrypts. */
  readonly isBeside: boolean;
}

/** The variable that contains the encryption keys if no file is specified. */
export const ENCRYPTION_KEY_VARIABLE = "ENDPOINT_SYNC_ENCRYPTION_KEY";
/** The database in a folder of the management API. */
export const DATABASE_FILE = "management.db";
const KEY_FILE = "encryption.key";

/**
 * Creates the cipher from the keys that the options name, or from the key that is stored with the data.
 *
 * @throws CONFIG_FILE when there is no key; CONFIG_VALUE for a value that is not a key.
 */
export async function readCipher({ file, folder, terminal }: EncryptionKeyOptions): Promise<PlatformCipher> {
  return (await readNamedCipher({ file, terminal })) ?? readCipherBeside(folder);
}

/**
 * Creates the cipher from the keys that the options name; undefined if they name none.
 *
 * @throws CONFIG_FILE when the file cannot be read; CONFIG_VALUE for a value that is not a key.
 */
export async function readNamedCipher({ file, terminal }: Omit<EncryptionKeyOptions, "folder">): Promise<PlatformCipher | undefined> {
  const text = file === undefined ? terminal.env[ENCRYPTION_KEY_VARIABLE] : await terminal.read(file);
  return text === undefined ? undefined : { cipher: cipherFrom(text), isBeside: false };
}

/**
 * Creates the cipher from the key that is stored with the data, and the key itself next to new data.
 *
 * @throws CONFIG_FILE when there are data without a key; CONFIG_VALUE for a value that is not a key.
 */
export async function readOrMakeCipherBeside(folder: string): Promise<PlatformCipher> {
  const path = join(folder, KEY_FILE);
  // A new key could not decrypt existing data, but would appear to be its key.
  if (!(await exists(path)) && !(await exists(join(folder, DATABASE_FILE)))) {
    await writeKeptFile(path, `${Buffer.from(systemChance.bytes(ENCRYPTION_KEY_BYTES)).toString("base64")}\n`);
  }
  return readCipherBeside(folder);
}

async function readCipherBeside(folder: string | undefined): Promise<PlatformCipher> {
  const text = folder === undefined ? undefined : await readIfThere(join(folder, KEY_FILE));
  if (text === undefined) throw noKey(folder);
  return { cipher: cipherFrom(text), isBeside: true };
}

function cipherFrom(text: string): PlatformCipher["cipher"] {
  return createCipher({ keys: parseEncryptionKeys(text), chance: systemChance });
}

function noKey(folder: string | undefined): EngineError {
  const give = `Provide it with --encryption-key-file or ${ENCRYPTION_KEY_VARIABLE}`;
  if (folder === undefined) return new EngineError("CONFIG_FILE", "There is no encryption key", { details: { hint: give } });
  const message = `Cannot read "${join(folder, DATABASE_FILE)}": its encryption key is not available`;
  return new EngineError("CONFIG_FILE", message, { details: { hint: `${give}, or restore it as "${join(folder, KEY_FILE)}"` } });
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new EngineError("CONFIG_FILE", `Cannot read "${path}": ${messageOf(error)}`, { cause: error });
  }
}

/** Reports whether a path exists. */
export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
