import { meterModule } from "./meter.ts";
import { OVERHEAD_POINTS } from "./overhead-points.ts";
import { readEngineFile } from "./wasm-file.ts";

/**
 * Returns the engine, rewritten so that it counts its steps. Rewriting takes tens of milliseconds.
 *
 * The rewritten bytes are kept in memory only, so that reviews need to cover only the package's file and the rewriter. A browser bundle of
 * the sandbox replaces this module with one that contains the rewritten bytes.
 *
 * @throws INTERNAL when the installed file is not the expected one.
 */
export async function readMeteredEngine(): Promise<Uint8Array<ArrayBuffer>> {
  return meterModule(await readEngineFile(), OVERHEAD_POINTS);
}
