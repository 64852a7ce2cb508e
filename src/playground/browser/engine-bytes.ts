/**
 * Stands in for `sandbox/engine-bytes.ts` in a browser: the engine is in the script.
 *
 * @module
 */

/** The engine's file, deflated, in base64. The build puts it here. */
declare const INLINED_ENGINE: string;

/** The bytes of QuickJS as its package ships it. */
export async function readEngineBytes(): Promise<Uint8Array<ArrayBuffer>> {
  const deflated = Uint8Array.from(atob(INLINED_ENGINE), (character) => character.charCodeAt(0));
  const inflated = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(inflated).arrayBuffer());
}
