import { messageOf } from "../../../base/errors.ts";
import { canonicalJson } from "../../../base/json.ts";
import type { Clock } from "../../../base/clock.ts";
import { unavailable } from "../../../apiserver/types/status.ts";
import type { Configured } from "../identity.ts";
import { discoverOidc } from "./oidc-client.ts";
import type { OidcClient } from "./oidc-client.ts";
import { createProviderFetch } from "./provider-fetch.ts";
import type { OidcSettings } from "../settings.ts";

/** The providers that have been discovered. */
export type OidcClients = (provider: Configured<OidcSettings>) => Promise<OidcClient>;

/** What discovery needs. */
export interface OidcClientsOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** The text of a file that settings name. */
  readonly readFile: (path: string) => Promise<string>;
  /** How long a discovery document is used, in milliseconds. */
  readonly lifetimeMs: number;
  /** How long a provider may take for one answer, in seconds. */
  readonly timeoutSeconds: number;
}

/** Providers that are remembered; a configuration has fewer. */
const CLIENTS_MAX = 100;

/**
 * Discovers a provider when it is first needed, and again when its settings or its authorities change or the document has become old. Failures are
 * not remembered.
 *
 * @throws API_UNAVAILABLE (the function returned) when the provider cannot be reached or `caFile` cannot be read.
 */
export function createOidcClients({ clock, readFile, lifetimeMs, timeoutSeconds }: OidcClientsOptions): OidcClients {
  const known = new Map<string, { readonly key: string; readonly until: number; readonly client: Promise<OidcClient> }>();
  return async ({ connector, settings }) => {
    const { caFile = "", insecureCa = false } = settings;
    const ca = caFile === "" ? undefined : await readAuthorities(readFile, caFile);
    const key = canonicalJson([settings, ca ?? null]);
    const entry = known.get(connector);
    if (entry !== undefined && entry.key === key && entry.until > clock.monotonic()) return entry.client;
    const fetch = createProviderFetch({ insecure: insecureCa, ...(ca !== undefined && { ca }) });
    const client = discoverOidc(settings, { fetch, timeoutSeconds });
    known.delete(connector);
    known.set(connector, { key, until: clock.monotonic() + lifetimeMs, client });
    if (known.size > CLIENTS_MAX) known.delete(known.keys().next().value!);
    try {
      return await client;
    } catch (error) {
      if (known.get(connector)?.client === client) known.delete(connector);
      throw error;
    }
  };
}

async function readAuthorities(readFile: (path: string) => Promise<string>, path: string): Promise<string> {
  try {
    return await readFile(path);
  } catch (error) {
    throw unavailable(`the provider's caFile cannot be read: ${messageOf(error)}`);
  }
}
