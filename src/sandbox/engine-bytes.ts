/**
 * The one file of the sandbox that needs the platform: it finds and reads the engine. Who bundles the sandbox for browsers replaces
 * this file; what it answers is checked either way.
 *
 * Node's file system is asked for at run time, so that a browser can load this file too; there, the engine is fetched.
 *
 * @module
 */

const ENGINE = "@jitl/quickjs-wasmfile-release-sync/wasm";

/** The bytes of QuickJS as its package ships it. */
export async function readEngineBytes(): Promise<Uint8Array<ArrayBuffer>> {
  const url = new URL(import.meta.resolve(ENGINE));
  if (url.protocol !== "file:") return new Uint8Array(await (await fetch(url)).arrayBuffer());
  const { readFile } = process.getBuiltinModule("node:fs/promises");
  return new Uint8Array(await readFile(url));
}
