import { readFile, stat } from "node:fs/promises";
import { EngineError, messageOf } from "../../base/errors.ts";
import type { Code } from "../../base/codes.ts";

/** Maximum size of a file. It is large, because lists of objects may be long. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** Fault of a file, with its remedy. The details of the error contain both, for lists of problems. */
interface FileFault {
  readonly reason: string;
  readonly hint: string;
}

const FAULTS: Readonly<Record<string, FileFault>> = {
  ENOENT: { reason: "there is no such file", hint: "Check the path; a relative path starts at the working directory" },
  ENOTDIR: { reason: "a part of its path is not a directory", hint: "Check the path" },
  EISDIR: { reason: "it is a directory", hint: "Specify a file in the directory" },
  EACCES: { reason: "permission denied", hint: "Make it readable by this user" },
  EPERM: { reason: "permission denied", hint: "Make it readable by this user" },
};

/**
 * Reads the text of a file.
 *
 * @throws CONFIG_FILE when it cannot be read or is larger than {@link FILE_BYTES_MAX}; details: reason, hint.
 * @throws CONFIG_SYNTAX when it is not UTF-8 text; details: reason, hint.
 */
export async function readTextFile(path: string): Promise<string> {
  try {
    checkSize((await stat(path)).size, path);
    return decodeText(await readFile(path), path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

/**
 * Decodes bytes as text, without a byte order mark. `name` appears in the message.
 *
 * @throws CONFIG_FILE, CONFIG_SYNTAX as {@link readTextFile} does.
 * @example
 * decodeText(new TextEncoder().encode("sync: {}"), "vcluster.yaml"); // "sync: {}"
 */
export function decodeText(bytes: Uint8Array, name: string): string {
  checkSize(bytes.length, name);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // The decoder's own error contains no further information.
    throw fileError("CONFIG_SYNTAX", name, { reason: "it is not UTF-8 text", hint: "Specify a YAML or JSON file that is saved as UTF-8" });
  }
}

/** The error for an empty file that must not be empty; details: reason, hint. */
export function emptyFile(name: string): EngineError {
  const hint = "Write {} for an empty configuration, or pass --allow-empty. A program that writes the file must replace it in one step";
  return fileError("CONFIG_FILE", name, { reason: "it is empty", hint });
}

function checkSize(bytes: number, name: string): void {
  if (bytes <= FILE_BYTES_MAX) return;
  throw fileError("CONFIG_FILE", name, { reason: `it is larger than ${FILE_BYTES_MAX} bytes`, hint: "Split it into several files" });
}

/** Converts anything thrown by a read into an error; errors with a code do not change. */
export function unreadable(name: string, error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  const code = String((error as { code?: unknown }).code);
  const fault = Object.hasOwn(FAULTS, code) ? FAULTS[code]! : { reason: messageOf(error), hint: "Check the path and its permissions" };
  return fileError("CONFIG_FILE", name, fault, error);
}

function fileError(code: Code, name: string, fault: FileFault, cause?: unknown): EngineError {
  return new EngineError(code, `Cannot read "${name}": ${fault.reason}`, { details: { ...fault }, cause });
}
