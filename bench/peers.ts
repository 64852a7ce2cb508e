/**
 * Packages with which the benches compare this package, and which it does not need itself. `npm run bench:peers` installs them into this
 * folder; a bench leaves out missing ones and reports this.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The parts of isolated-vm that are used. Values given by reference stay in the isolate. */
export interface IsolatedVm {
  readonly Isolate: new (options: { memoryLimit: number }) => { createContextSync(): IsolatedContext };
}

/** A realm of an isolate. */
export interface IsolatedContext {
  evalSync(code: string, options: { reference: true }): IsolatedReference;
}

/** Something that lives in an isolate. */
export interface IsolatedReference {
  applySync(receiver: undefined, args: readonly unknown[], options: { timeout: number; arguments?: object; result?: object }): unknown;
  derefInto(): unknown;
}

/** The parts of lodash/fp that are used. */
export interface LodashFp {
  set(path: readonly string[], value: unknown, object: object): unknown;
}

const PEERS = { "isolated-vm": "isolated-vm", "lodash/fp": "lodash/fp.js" };

/** Why peers were left out, by name. */
export const leftOut = new Map<string, string>();

/** Isolates of other snapshots than Node's own need this, says the documentation of isolated-vm. */
const NO_SNAPSHOT = "--no-node-snapshot";

/** Loads a peer; undefined, with the reason in {@link leftOut}, when that is not possible. */
export async function loadPeer<Peer>(name: keyof typeof PEERS): Promise<Peer | undefined> {
  if (name === "isolated-vm" && !process.execArgv.includes(NO_SNAPSHOT)) {
    leftOut.set(name, `Node was started without ${NO_SNAPSHOT}`);
    return undefined;
  }
  try {
    const loaded = (await import(PEERS[name])) as { default: Peer };
    return loaded.default;
  } catch (error) {
    const missing = (error as { code?: string }).code === "ERR_MODULE_NOT_FOUND";
    leftOut.set(name, missing ? "it is not installed; npm run bench:peers does that" : String(error).split("\n")[0]!);
    return undefined;
  }
}

/** The version of an installed package, peer or not; undefined if there is none. */
export function versionOf(name: string): string | undefined {
  const folders = [join(import.meta.dirname, "node_modules"), join(import.meta.dirname, "..", "node_modules")];
  const file = folders.map((folder) => join(folder, name, "package.json")).find((path) => existsSync(path));
  return file && (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
