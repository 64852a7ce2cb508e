/**
 * How the rows of a backup are sealed: for the place that they have in this one backup. So none of them opens as a row of data or of another
 * backup, wherever it is put, and a backup cannot be made to look like data by taking its manifest away.
 *
 * @module
 */
import type { Cipher, SealingKeys } from "../../apiserver/store/cipher.ts";

/** A cipher whose keys have names. */
export type KeyedCipher = Cipher & { readonly keys: SealingKeys };

/** Opens data and backups, and notes which it was. */
export interface BackupCipher {
  readonly cipher: KeyedCipher;
  /** By the key of each row that was opened: the id of the backup that it was sealed for. Rows of data are not in it. */
  readonly backups: ReadonlyMap<string, string>;
}

const SEAL = /^backup:([^:]+):(.*)$/s;

/**
 * A cipher that opens rows of data and of any backup.
 *
 * @param id The backup that it seals for. Default: it seals data.
 * @throws what `cipher` throws, for a row that was sealed with another key, was changed or is in another place.
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
