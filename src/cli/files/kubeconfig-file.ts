import { chmod, readFile, writeFile } from "node:fs/promises";
import { load } from "js-yaml";
import { EngineError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";

/** A kubeconfig for an embedded cluster. */
export interface KubeconfigFile {
  readonly path: string;
  /** The name of its only context. */
  readonly name: string;
}

/**
 * Refuses a file that contains anything other than an earlier kubeconfig of the same name, because `--kubeconfig ~/.kube/config` must not
 * remove users' access to their clusters.
 *
 * @throws CONFIG_FILE when the file contains something else, or cannot be read.
 */
export async function checkKubeconfigFile({ path, name }: KubeconfigFile): Promise<void> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw unwritable(path, messageOf(error), error);
  });
  if (text === undefined || text.trim() === "" || isKubeconfigOf(text, name)) return;
  throw unwritable(path, `it is not the kubeconfig of a cluster "${name}"`);
}

/**
 * Writes the kubeconfig so that only its owner can read the file, because it contains the credentials of an administrator.
 *
 * @throws CONFIG_FILE when it cannot be written.
 */
export async function writeKubeconfigFile(path: string, text: string): Promise<void> {
  try {
    // The mode below applies only to new files, and other users must not be able to read the key.
    await chmod(path, 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
    await writeFile(path, text, { mode: 0o600 });
  } catch (error) {
    throw unwritable(path, messageOf(error), error);
  }
}

function isKubeconfigOf(text: string, name: string): boolean {
  const contexts = contextsOf(text);
  return contexts !== undefined && contexts.length === 1 && isRecord(contexts[0]) && contexts[0]["name"] === name;
}

function contextsOf(text: string): readonly unknown[] | undefined {
  try {
    const document = load(text);
    return isRecord(document) && Array.isArray(document["contexts"]) ? document["contexts"] : undefined;
  } catch {
    // A text that does not parse is not an earlier kubeconfig.
    return undefined;
  }
}

function unwritable(path: string, reason: string, cause?: unknown): EngineError {
  const hint = "Choose another file with --kubeconfig. Remove this one only if it is no longer needed";
  return new EngineError("CONFIG_FILE", `Cannot write "${path}": ${reason}`, { cause, details: { hint } });
}
