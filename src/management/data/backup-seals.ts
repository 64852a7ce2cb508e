/**
 * Encryption of the rows of a backup: each row is bound to its place in this one backup. A row can therefore not be decrypted as data, in
 * a different backup or in a different place, and a backup without its manifest cannot be used as data.
 *
 * @module
 */
import type { Cipher, SealingKeys } from "../../apiserver/store/cipher.ts";

/** A cipher whose keys have names. */
export type KeyedCipher = Cipher & { readonly keys: SealingKeys };

/** Opens data and backups, and records which it was. */
export interface BackupCipher {
  readonly cipher: KeyedCipher;
  /** By the key of each opened row: the id of the backup that it was sealed for. Rows of data are not included. */
  readonly backups: ReadonlyMap<string, string>;
}

const SEAL = /^backup:([^:]+):(.*)$/s;

/**
 * A cipher that decrypts rows of data and of any backup.
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
