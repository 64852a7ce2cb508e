import { createReadStream, createWriteStream } from "node:fs";
import { access, readdir, rename, unlink } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

/** Settings for keeping rotated files. */
export interface Keeping {
  /** In days; 0 means forever. */
  readonly maxAge: number;
  /** 0 means all. */
  readonly maxBackups: number;
  /** Whether they are compressed with gzip. */
  readonly compress: boolean;
}

/** A rotated file. */
interface Rotated {
  readonly path: string;
  /** When it was rotated, in milliseconds since 1970. */
  readonly at: number;
  readonly compressed: boolean;
}

const DAY_MS = 86_400_000;
const GZIP = ".gz";
/** Ending of the name of an incomplete compressed file. */
const PART = `${GZIP}.part`;

/**
 * Returns the name for a file that is rotated now. It contains the current time in UTC, or the next millisecond for which no file exists.
 * Source: the names of Kubernetes' rotated logs.
 *
 * @example
 * await rotatedName("/var/log/audit.log", 0); // "/var/log/audit-1970-01-01T00-00-00.000.log"
 */
export async function rotatedName(path: string, at: number): Promise<string> {
  const { stem, extension } = partsOf(path);
  for (let moment = at; ; moment++) {
    const stamp = new Date(moment).toISOString().replace("Z", "").replaceAll(":", "-");
    const name = join(dirname(path), `${stem}-${stamp}${extension}`);
    if (!(await exists(name)) && !(await exists(`${name}${GZIP}`))) return name;
  }
}

/**
 * Removes rotated files beyond the maximum age or number, and compresses the others if configured. If a crash interrupts the compression,
 * the next call removes the files that it left.
 *
 * @throws the system's error.
 */
export async function tendRotated(path: string, { maxAge, maxBackups, compress }: Keeping, now: number): Promise<void> {
  const files = await rotatedFiles(path);
  const moments = [...new Set(files.map(({ at }) => at))].sort((left, right) => right - left);
  const kept = new Set(
    moments.filter((at, index) => (maxBackups === 0 || index < maxBackups) && (maxAge === 0 || now - at < maxAge * DAY_MS)),
  );
  for (const file of files) {
    const twin = !file.compressed && files.some(({ at, compressed }) => compressed && at === file.at);
    if (!kept.has(file.at) || twin) await unlink(file.path);
    else if (compress && !file.compressed) await compressFile(file.path);
  }
}

async function rotatedFiles(path: string): Promise<readonly Rotated[]> {
  const { stem, extension } = partsOf(path);
  const found: Rotated[] = [];
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(`${stem}-`)) continue;
    const ending = [`${extension}${PART}`, `${extension}${GZIP}`, extension].find((one) => name.endsWith(one));
    const at = ending === undefined ? undefined : momentOf(name.slice(stem.length + 1, name.length - ending.length));
    if (at === undefined) continue;
    if (ending!.endsWith(PART)) await unlink(join(dirname(path), name));
    else found.push({ path: join(dirname(path), name), at, compressed: ending!.endsWith(GZIP) && ending !== extension });
  }
  return found;
}

const STAMP = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})$/;

function momentOf(stamp: string): number | undefined {
  const [, day, hours, minutes, seconds] = STAMP.exec(stamp) ?? [];
  const at = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(at) ? undefined : at;
}

async function compressFile(path: string): Promise<void> {
  await pipeline(createReadStream(path), createGzip(), createWriteStream(`${path}${PART}`, { mode: 0o600 }));
  await rename(`${path}${PART}`, `${path}${GZIP}`);
  await unlink(path);
}

function partsOf(path: string): { readonly stem: string; readonly extension: string } {
  const extension = extname(path);
  return { stem: basename(path, extension), extension };
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    // Regardless of the error, no visible file has this name.
    return false;
  }
}
