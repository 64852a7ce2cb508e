import { EngineError, isEngineError, messageOf } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import { insufficientStorage, unavailable } from "../../types/status.ts";

/** Result codes of SQLite. Source: its documentation, "Result and Error Codes". */
const ERROR = 1;
const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** The reason why a file cannot be used, and a remedy. */
interface Fault {
  readonly reason: string;
  readonly hint: string;
}

const LOCKED: Fault = { reason: "another process has it open", hint: "Stop that process, or choose another file" };
const FOREIGN: Fault = { reason: "it is not a database of this program", hint: "Specify another file; this one was not changed" };
const DAMAGED: Fault = { reason: "it is damaged", hint: "Restore the file from a backup, or move it away to start with an empty one" };
const CLOSED_TO_US: Fault = {
  reason: "this user is not allowed to write to it",
  hint: "Check the permissions of the file and of its folder",
};

const SQLITE_FAULTS: ReadonlyMap<number, Fault> = new Map([
  // A table or column that every valid file has is missing.
  [ERROR, DAMAGED],
  [BUSY, LOCKED],
  [READONLY, CLOSED_TO_US],
  [
    IOERR,
    {
      reason: "the system cannot read or write it",
      hint: "Check the device. If there is a log (-wal) next to the file, copy both to a writable location",
    },
  ],
  [CORRUPT, DAMAGED],
  [FULL, { reason: "the disk is full", hint: "Free up space on the disk" }],
  [CANTOPEN, { reason: "it cannot be opened", hint: "Check that it is a file, and check the permissions of its folder" }],
  [NOTADB, FOREIGN],
]);

const FILE_FAULTS: ReadonlyMap<unknown, Fault> = new Map([
  ["ENOENT", { reason: "its folder does not exist", hint: "Create the folder" }],
  ["ENOTDIR", { reason: "a part of its path is not a folder", hint: "Check the path" }],
  ["EACCES", CLOSED_TO_US],
  ["EPERM", CLOSED_TO_US],
  ["EROFS", CLOSED_TO_US],
  ["ENOSPC", { reason: "the disk is full", hint: "Free up space on the disk" }],
]);

/** The error for a file that is a database of another program. */
export function foreignFile(path: string): EngineError {
  return fileError(path, FOREIGN);
}

/** The error for a file that is empty or missing, although data is expected in it. */
export function emptyDatabase(path: string, reason: string): EngineError {
  return fileError(path, { reason, hint: EMPTY_HINT });
}

/** Reports whether an error comes from {@link emptyDatabase}. */
export function isEmptyFile(error: unknown): boolean {
  return isEngineError(error) && error.details["hint"] === EMPTY_HINT;
}

/** Reports whether the cause of an error is that another process has the file open. */
export function isLockedFile(error: unknown): boolean {
  return isEngineError(error) && error.details["reason"] === LOCKED.reason;
}

const EMPTY_HINT = "Put the file back, together with its -wal file if it had one, or restore a backup";

/** The error for a file with content that this program never writes; `what` describes the damage. */
export function damagedFile(path: string, what: string): EngineError {
  return fileError(path, { ...DAMAGED, reason: `${DAMAGED.reason} (${what})` });
}

/** The error for a file with an object that cannot be decrypted. */
export function sealedFile(path: string, key: string, cause: unknown): EngineError {
  const reason = `its object ${JSON.stringify(key)} cannot be decrypted: it was encrypted with a different key, or has been changed since`;
  const known = isEngineError(cause) ? cause.details["hint"] : undefined;
  return fileError(path, { reason, hint: typeof known === "string" ? known : "Use the key that encrypted the data" }, cause);
}

/** The error for a file that a newer version of this program wrote. */
export function newerFile(path: string, { found, known }: { readonly found: number; readonly known: number }): EngineError {
  const reason = `it has schema ${found}, but this version supports only schemas up to ${known}`;
  return fileError(path, { reason, hint: "Run the version that wrote the file, or a later one" });
}

/** Converts any error that occurs while a file is opened. */
export function openFailure(path: string, error: unknown): EngineError {
  if (isEngineError(error)) return error;
  const fault = SQLITE_FAULTS.get(resultCode(error)) ?? FILE_FAULTS.get((error as { code?: unknown }).code);
  return fileError(path, fault ?? { reason: messageOf(error), hint: "Check the file and its device" }, error);
}

/** The error for a file of an open database that was moved, or changed by a different process; `what` describes the change. */
export function lostFile(path: string, { file, what }: { readonly file: string; readonly what: string }): EngineError {
  const reason = "a file of the database was removed, moved, replaced or changed";
  const hint = "Stop the program. Put back the database and its log (-wal) as they were, or restore a backup, then start the program again";
  const { status } = unavailable(
    `the server cannot store anything: ${reason}. The administrator must put the file back and restart the server`,
  ).details;
  return new EngineError("STORE_FAILED", `Cannot write to "${path}": "${file}" ${what} while it was open`, {
    details: { hint, reason, status },
  });
}

/** Converts any error of a write, which then stores nothing. Clients see the message without the path. */
export function writeFailure(path: string, error: unknown): EngineError {
  if (isEngineError(error)) return error;
  const full = resultCode(error) === FULL;
  const reason = full ? "the disk is full" : messageOf(error);
  const hint = isLasting(error)
    ? "Stop the program, and restore the file from a backup"
    : `${full ? "Free up space on the disk" : "Check the device"}; the store resumes as soon as it can write`;
  const message = `the server cannot store anything: ${reason}. ${hint}`;
  const { status } = (full ? insufficientStorage(message) : unavailable(message)).details;
  return new EngineError("STORE_FAILED", `Cannot write to "${path}": ${reason}`, { cause: error, details: { hint, reason, status } });
}

/** Reports whether the file itself is the cause of an error, so that later writes will fail too. */
export function isLasting(error: unknown): boolean {
  return LASTING.has(resultCode(error));
}

const LASTING: ReadonlySet<number> = new Set([CORRUPT, NOTADB]);

/** The primary result code of an error of SQLite; 0 for other errors. */
function resultCode(error: unknown): number {
  const code = isRecord(error) || error instanceof Error ? (error as { errcode?: unknown }).errcode : undefined;
  return typeof code === "number" ? code & 0xff : 0;
}

function fileError(path: string, { reason, hint }: Fault, cause?: unknown): EngineError {
  return new EngineError("CONFIG_FILE", `Cannot open "${path}": ${reason}`, { cause, details: { reason, hint } });
}
