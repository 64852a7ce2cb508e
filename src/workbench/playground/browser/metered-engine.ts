/**
 * Replaces `engine/sandbox/quickjs/metered-engine.ts` in a browser: the bytes that it generates are part of the script.
 *
 * @module
 */
import { assert } from "../../../base/errors.ts";
import { sha256 } from "./sha256.ts";

/** The metered engine, deflated, in base64, and the SHA-256 of its bytes in hex. The build puts them here. */
declare const INLINED_ENGINE: string;
declare const INLINED_DIGEST: string;

/**
 * Reads the metered engine from the page, and checks its digest.
 *
 * @throws INTERNAL if the page is damaged.
 */
export async function readMeteredEngine(): Promise<Uint8Array<ArrayBuffer>> {
  const deflated = Uint8Array.from(atob(INLINED_ENGINE), (character) => character.charCodeAt(0));
  const inflated = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(inflated).arrayBuffer());
  const digest = await digestOf(bytes);
  assert(digest === INLINED_DIGEST, `the engine has the expected digest ${INLINED_DIGEST}, found ${digest}`);
  return bytes;
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  // A page that was loaded over plain HTTP has no Web Crypto, although the types say so.
  const { subtle } = crypto as { readonly subtle?: typeof crypto.subtle };
  if (subtle === undefined) return sha256(bytes);
  return Array.from(new Uint8Array(await subtle.digest("SHA-256", bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
