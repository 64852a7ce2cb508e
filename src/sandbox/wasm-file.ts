import { assert } from "../base/errors.ts";
import { sha256 } from "../base/sha256.ts";
import { readEngineBytes } from "./engine-bytes.ts";

/**
 * SHA-256 of the engine. The layout of its values, the letters of its exports and the cost of every expression belong to this
 * very file.
 */
export const ENGINE_DIGEST = "105c3bed22d457e43e3d1c3c1c6959fda62a8fe06f0fc8a985303c3a2be72232";

/**
 * The bytes of QuickJS, checked.
 *
 * @throws INTERNAL when they are another file's.
 */
export async function readEngineFile(): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readEngineBytes();
  const digest = await digestOf(bytes);
  assert(digest === ENGINE_DIGEST, `the engine has the digest ${ENGINE_DIGEST}, found ${digest}`);
  return bytes;
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  // A page that came over plain HTTP has no Web Crypto, whatever the types say.
  const { subtle } = crypto as { readonly subtle?: typeof crypto.subtle };
  if (subtle === undefined) return sha256(bytes);
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
