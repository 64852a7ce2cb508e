/** The user's choices and latest texts, stored only in this browser. */
import type { PlaygroundState } from "../../protocol.ts";

/** `system` follows the operating system. */
export type Theme = "system" | "light" | "dark";

/** The object that the host object is compared with. */
export type Compare = "tenant" | "synced" | "nothing";

/** Everything that is stored. */
export interface PageSettings {
  readonly theme: Theme;
  readonly compare: Compare;
  /** Whether the introduction has been dismissed. */
  readonly welcomed: boolean;
  /** The last texts. Absent before the first edit. */
  readonly draft?: PlaygroundState;
}

/** The part of `localStorage` that is used. */
export interface SettingsStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

/** Settings that are stored when they change. */
export interface SettingsStore {
  get(): PageSettings;
  /** Changes some settings. If the change cannot be stored, it lasts until the page is closed. */
  set(change: Partial<PageSettings>): void;
}

const NAME = "endpoint-sync-playground";
const DEFAULTS: PageSettings = { theme: "system", compare: "tenant", welcomed: false };

/**
 * Reads the settings, and stores changes. The page also starts if the browser refuses to store anything, or if the stored settings are
 * from another version.
 *
 * @param storage - returns the storage, or throws as `window.localStorage` does where it is forbidden
 */
export function createSettings(storage: () => SettingsStorage): SettingsStore {
  let settings = read(storage);
  return {
    get: () => settings,
    set(change) {
      settings = { ...settings, ...change };
      guarded(() => storage().setItem(NAME, JSON.stringify(settings)));
    },
  };
}

function read(storage: () => SettingsStorage): PageSettings {
  const kept: unknown = guarded(() => JSON.parse(storage().getItem(NAME) ?? "{}"));
  if (typeof kept !== "object" || kept === null) return DEFAULTS;
  const { theme, compare, welcomed, draft } = kept as Record<string, unknown>;
  return {
    theme: theme === "light" || theme === "dark" ? theme : DEFAULTS.theme,
    compare: compare === "synced" || compare === "nothing" ? compare : DEFAULTS.compare,
    welcomed: welcomed === true,
    ...(isState(draft) && { draft }),
  };
}

function isState(draft: unknown): draft is PlaygroundState {
  if (typeof draft !== "object" || draft === null) return false;
  const { config, settings, tenant, host, vcluster } = draft as Record<string, unknown>;
  return (
    typeof config === "string" &&
    typeof tenant === "string" &&
    (settings === undefined || typeof settings === "string") &&
    (host === undefined || typeof host === "string") &&
    (vcluster === undefined || isVCluster(vcluster))
  );
}

function isVCluster(vcluster: unknown): boolean {
  if (typeof vcluster !== "object" || vcluster === null) return false;
  const { name, namespace } = vcluster as Record<string, unknown>;
  return typeof name === "string" && typeof namespace === "string";
}

function guarded<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
