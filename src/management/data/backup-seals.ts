/**
 * Encryption of the rows of a backup: each row is bound to its place in this one backup. A row therefore cannot be decrypted as data, in
 * a different backup or in a different place, and a backup without its manifest cannot be used as data.
 *
 * @module
 */
import type { Cipher, SealingKeys } from "../../apiserver/store/cipher.ts";

/** A cipher whose keys have names. */
export type KeyedCipher = Cipher & { readonly keys: SealingKeys };

/** Decrypts rows of data and of backups, and records which rows belong to a backup. */
export interface BackupCipher {
  readonly cipher: KeyedCipher;
  /** The id of the backup that each opened row was sealed for, by the key of the row. Rows of data are not included. */
  readonly backups: ReadonlyMap<string, string>;
}

const SEAL = /^backup:([^:]+):(.*)$/s;

/**
 * Creates a cipher that decrypts rows of data and of any backup.
 *
 * @param id The backup whose rows are sealed. Default: rows of data are sealed.
 * @throws what `cipher` throws, for a row that was sealed with another key, changed, or moved to another place.
 */
export function createBackupCipher(cipher: KeyedCipher, id?: string): BackupCipher {
  const { keys } = cipher;
  const backups = new Map<string, string>();
  const open = (key: string, sealed: string) => {
    const [, of, inner = ""] = SEAL.exec(sealed) ?? [];
    if (of === undefined) return cipher.open(key, sealed);
    const text = cipher.open(placeIn(of, key), inner);
    backups.set(key, of);
    return text;
  };
  const seal = id === undefined ? cipher.seal : (key: string, text: string) => `backup:${id}:${cipher.seal(placeIn(id, key), text)}`;
  const sealerOf = (sealed: string) => keys.sealerOf(SEAL.exec(sealed)?.[2] ?? sealed);
  return { cipher: { keys: { ...keys, sealerOf }, seal, open }, backups };
}

function placeIn(id: string, key: string): string {
  return `backup/${id}${key}`;
}
