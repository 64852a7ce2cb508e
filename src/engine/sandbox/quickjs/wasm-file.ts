/**
 * Finds, reads and checks the engine. This is the only file of the sandbox that depends on the platform.
 *
 * Node's file system is imported at run time, so that a browser can load this file too; there, the engine is fetched.
 *
 * @module
 */
import { assert } from "../../../base/errors.ts";

const ENGINE = "@jitl/quickjs-wasmfile-release-sync/wasm";

/**
 * SHA-256 of the engine. The layout of its values, the letters of its exports and the cost of every expression are those of exactly this
 * file.
 */
export const ENGINE_DIGEST = "105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232";

/**
 * The bytes of QuickJS from the package.
 *
 * @throws INTERNAL when the installed file is not the expected one.
 */
export async function readEngineFile(): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readBytes(new URL(import.meta.resolve(ENGINE)));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  assert(hex === ENGINE_DIGEST, `the engine has the digest ${ENGINE_DIGEST}, found ${hex}`);
  return bytes;
}

async function readBytes(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  if (url.protocol !== "file:") return new Uint8Array(await (await fetch(url)).arrayBuffer());
  const { readFile } = process.getBuiltinModule("node:fs/promises");
  return new Uint8Array(await readFile(url));
}
