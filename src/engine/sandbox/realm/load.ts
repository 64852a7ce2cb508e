import { HOST_FUNCTIONS } from "../../expression/functions/host-functions.ts";
import { buildRealm, type RealmImage } from "./realm.ts";
import { readMeteredEngine } from "../quickjs/metered-engine.ts";

/** The metered engine and an image of its realm; both are read-only and shared by all sandboxes of the process. */
export interface LoadedRealm {
  readonly module: WebAssembly.Module;
  readonly image: RealmImage;
}

let metered: Promise<WebAssembly.Module> | undefined;
const images = new Map<number, RealmImage>();

/**
 * Returns the metered engine with its realm, for a stack of `stackBytes`.
 *
 * Metering and booting take tens of milliseconds each, so both are done once per process.
 */
export async function loadRealm(stackBytes: number): Promise<LoadedRealm> {
  metered ??= readMeteredEngine().then((bytes) => WebAssembly.compile(bytes));
  const module = await metered;
  let image = images.get(stackBytes);
  if (image === undefined) {
    image = buildRealm({ module, stackBytes, memoryBytes: BOOT_MEMORY_BYTES, functions: HOST_FUNCTIONS, outside: {} });
    images.set(stackBytes, image);
  }
  return { module, image };
}

/** An image must fit into the smallest memory that a limit allows. */
const BOOT_MEMORY_BYTES = 16 * 1024 * 1024;
