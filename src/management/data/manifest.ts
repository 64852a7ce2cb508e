/**
 * The manifest that proves that a backup is complete and unchanged. It is the last row to be written, and is encrypted with the platform's
 * key like all rows, so that an attacker without the key cannot create a different manifest.
 *
 * @module
 */
import { sha256Hex } from "../../base/digest.ts";
import { canonicalJson } from "../../base/json.ts";
import type { StoredObject } from "../../apiserver/store/store.ts";

/** The number of rows of one kind, and their digest. */
export interface ManifestPart {
  readonly count: number;
  /** SHA-256 over keys, revisions in the backup and contents, in hexadecimal. */
  readonly digest: string;
}

/** The content of a backup, as it was when it was made. */
export interface Manifest {
  /** Part of the seal of every row of the backup. */
  readonly id: string;
  /** When it was made (RFC 3339). */
  readonly madeAt: string;
  /** The revision of the manifest: nothing is written into the backup after it. */
  readonly at: number;
  /** By the place of each kind in the store, such as `/management.platform/teams/`. */
  readonly parts: Readonly<Record<string, ManifestPart>>;
  /** SHA-256 of `server.json`; null when the backup has none. */
  readonly serverFile: string | null;
}

/** The content found where a backup should be. */
export interface FoundBackup {
  /** All rows but that of the manifest. */
  readonly objects: readonly StoredObject[];
  /** The revision of the last write. */
  readonly revision: number;
  /** The backup that each row was sealed for, by key, including the row of the manifest. */
  readonly backups: ReadonlyMap<string, string>;
  /** The text of `server.json`; undefined when there is none. */
  readonly serverFile: string | undefined;
}

/** Rows by kind, counted and digested. */
export function partsOf(objects: readonly StoredObject[]): Manifest["parts"] {
  const lines = new Map<string, string[]>();
  for (const { key, revision, object } of objects) {
    const of = lines.get(partOf(key)) ?? [];
    lines.set(partOf(key), of);
    of.push(`${JSON.stringify(key)} ${revision} ${canonicalJson(object)}\n`);
  }
  return Object.fromEntries([...lines].map(([part, of]) => [part, { count: of.length, digest: sha256Hex(of.sort().join("")) }]));
}

/** The digest of a file's text in a manifest. */
export function fileDigest(text: string | undefined): string | null {
  return text === undefined ? null : sha256Hex(text);
}

/** The differences between a backup and its manifest, one sentence each. They quote no values. */
export function faultsAgainst(manifest: Manifest, found: FoundBackup): readonly string[] {
  const keys = new Set([...found.backups.keys(), ...found.objects.map(({ key }) => key)]);
  const strangers = [...keys].filter((key) => found.backups.get(key) !== manifest.id);
  const parts = partsOf(found.objects);
  const names = [...new Set([...Object.keys(manifest.parts), ...Object.keys(parts)])].sort();
  return [
    ...strangers.map((key) => strangerFault(key, found.backups.get(key))),
    ...names.flatMap((name) => partFault(name, { wanted: manifest.parts[name], found: parts[name] })),
    ...(found.revision === manifest.at
      ? []
      : [`its last write is revision ${found.revision}, but its manifest records revision ${manifest.at}`]),
    ...serverFault(manifest.serverFile, fileDigest(found.serverFile)),
  ];
}

/** The place of a row's kind. */
function partOf(key: string): string {
  return key.slice(0, key.indexOf("/", key.indexOf("/", 1) + 1) + 1);
}

function strangerFault(key: string, id: string | undefined): string {
  return `${JSON.stringify(key)}: the row belongs to ${id === undefined ? "data that is not a backup" : `another backup, ${id}`}`;
}

const NONE: ManifestPart = { count: 0, digest: "" };

function partFault(
  name: string,
  { wanted = NONE, found = NONE }: { wanted: ManifestPart | undefined; found: ManifestPart | undefined },
): readonly string[] {
  if (found.count < wanted.count) return [`${name}: ${found.count} of ${wanted.count} rows are left`];
  if (found.count > wanted.count) return [`${name}: there are ${found.count} rows, but ${wanted.count} were backed up`];
  if (found.digest !== wanted.digest) return [`${name}: its rows differ from those that were backed up, or are in a different order`];
  return [];
}

function serverFault(wanted: string | null, found: string | null): readonly string[] {
  if (wanted === found) return [];
  if (wanted === null) return ["there is a server.json, but none was backed up"];
  return [found === null ? "server.json is missing" : "server.json is not the one that was backed up"];
}
