import { meterModule } from "./meter.ts";
import { OVERHEAD_POINTS } from "./overhead-points.ts";
import { readEngineFile } from "./wasm-file.ts";

/**
 * The engine, rewritten so that it counts its steps, which takes tens of milliseconds.
 *
 * The rewritten bytes are kept in memory only: the reviewed parts are the package's file and the rewriter. A browser bundle of the
 * sandbox replaces this file with one that contains the bytes that this one generates.
 *
 * @throws INTERNAL when the installed file is a different one.
 */
export async function readMeteredEngine(): Promise<Uint8Array<ArrayBuffer>> {
  return meterModule(await readEngineFile(), OVERHEAD_POINTS);
}
