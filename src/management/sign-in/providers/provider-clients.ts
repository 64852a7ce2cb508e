import { messageOf } from "../../../base/errors.ts";
import { canonicalJson } from "../../../base/json.ts";
import type { Clock } from "../../../base/clock.ts";
import { unavailable } from "../../../apiserver/types/status.ts";
import { openClusterManager } from "./cluster-manager.ts";
import type { ProviderContext } from "./context.ts";
import { openDirectoryProviderA } from "./directory-provider-a.ts";
import { openDirectoryProviderB } from "./directory-provider-b.ts";
import { openOidc } from "./oidc.ts";
import type { ProviderClient } from "./provider-client.ts";
import { withFreshToken } from "./rest.ts";
import { openSourceHostA } from "./source-host-a.ts";
import { openSourceHostB } from "./source-host-b.ts";
import type { SignInLimits } from "../limits/limits.ts";
import { createProviderFetch, type ProviderFetch, type ProviderFetchOptions } from "../oidc/provider-fetch.ts";
import type { Provider, ProviderKind } from "../rules/admit.ts";

/** Returns the client of a provider, and opens the provider if necessary. */
export type ProviderClients = (provider: Provider) => Promise<ProviderClient>;

/** Options of {@link createProviderClients}. */
export interface ProviderClientsOptions {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Returns the text of a file that the settings name. */
  readonly readFile: (path: string) => Promise<string>;
  readonly limits: SignInLimits;
  /** Creates the function that sends requests to a provider. Default: over separate connections. */
  readonly createFetch?: (options: ProviderFetchOptions) => ProviderFetch;
}

/** Maximum number of providers that stay open; a configuration has fewer. */
const CLIENTS_MAX = 100;

type Opens = { readonly [Kind in ProviderKind]: (provider: Provider<Kind>, context: ProviderContext) => Promise<ProviderClient> };

/** How a provider of each kind is opened. */
const OPENS: Opens = {
  oidc: openOidc,
  sourceHostA: openSourceHostA,
  sourceHostB: openSourceHostB,
  directoryProviderA: openDirectoryProviderA,
  directoryProviderB: openDirectoryProviderB,
  // Loaded on demand: most platforms have no SAML provider and need no XML parser.
  saml: async (provider, context) => (await import("./saml/saml.ts")).openSaml(provider, context),
  clusterManager: openClusterManager,
};

/** Names of the settings that each kind requires. For OpenID Connect, the login reports missing settings. */
const NEEDS: { readonly [Kind in ProviderKind]?: readonly string[] } = {
  sourceHostA: ["clientId", "clientSecret"],
  sourceHostB: ["clientId", "clientSecret"],
  directoryProviderA: ["clientId", "clientSecret"],
  directoryProviderB: ["clientId", "clientSecret"],
  saml: ["ssoURL"],
  clusterManager: ["host", "bearerToken"],
};

/**
 * Reports whether a provider has all required settings, so that users can sign in with it.
 *
 * @example
 * isLive({ kind: "saml", connector: "saml", settings: {} }); // false
 */
export function isLive({ kind, settings }: Provider): boolean {
  const written = settings as Readonly<Record<string, unknown>>;
  return (NEEDS[kind] ?? []).every((name) => (written[name] ?? "") !== "");
}

/**
 * Opens a provider when it is first needed. Opens it again when its settings or certificate authorities change, or when its discovery
 * document is too old. Failures are not cached.
 *
 * @throws API_UNAVAILABLE (from the returned function) when the provider cannot be reached or a file of its settings cannot be read.
 */
export function createProviderClients(options: ProviderClientsOptions): ProviderClients {
  const { clock, readFile, limits, createFetch = createProviderFetch } = options;
  const known = new Map<string, { readonly key: string; readonly until: number; readonly client: Promise<ProviderClient> }>();
  return async (provider) => {
    const { connector, kind, settings } = provider;
    const authorities = authoritiesOf(settings as AnySettings);
    const ca = authorities === undefined ? undefined : await readAuthorities(readFile, authorities);
    const key = canonicalJson([kind, settings, ca ?? null]);
    const entry = known.get(connector);
    if (entry !== undefined && entry.key === key && entry.until > clock.monotonic()) return entry.client;
    const { insecureCa = false, insecure = insecureCa } = settings as AnySettings;
    const fetch = createFetch({ insecure, ...(ca !== undefined && { ca }) });
    const client = opened(provider, { fetch, readFile, clock, limits });
    known.delete(connector);
    known.set(connector, { key, until: clock.monotonic() + limits.discoveryLifetimeMs, client });
    if (known.size > CLIENTS_MAX) known.delete(known.keys().next().value!);
    try {
      return await client;
    } catch (error) {
      if (known.get(connector)?.client === client) known.delete(connector);
      throw error;
    }
  };
}

/** The settings of all kinds that determine how a provider is reached. */
interface AnySettings {
  readonly caFile?: string;
  readonly insecureCa?: boolean;
  readonly insecure?: boolean;
  readonly hostName?: string;
  readonly rootCA?: string;
  readonly ca?: string;
  readonly caData?: string;
}

async function opened(provider: Provider, context: ProviderContext): Promise<ProviderClient> {
  const open = OPENS[provider.kind] as (provider: Provider, context: ProviderContext) => Promise<ProviderClient>;
  const client = await open(provider, context);
  if (client.flow !== "redirect") return client;
  return { ...client, redeem: (address, secrets) => client.redeem(address, secrets).catch(withFreshToken) };
}

/** Returns the setting with the path of a provider's authorities, or of its signers. `rootCA` does not apply to the public service. */
function authoritiesOf({
  caFile = "",
  hostName = "",
  rootCA = "",
  ca = "",
  caData = "",
}: AnySettings): readonly [string, string] | undefined {
  if (caFile !== "") return ["caFile", caFile];
  if (ca !== "" && caData === "") return ["ca", ca];
  return rootCA !== "" && hostName !== "" ? ["rootCA", rootCA] : undefined;
}

async function readAuthorities(readFile: (path: string) => Promise<string>, [name, path]: readonly [string, string]): Promise<string> {
  let text: string;
  try {
    text = await readFile(path);
  } catch (error) {
    throw unavailable(`the provider's ${name} cannot be read: ${messageOf(error)}`);
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw unavailable(`the provider's ${name} contains no PEM certificate`);
  return text;
}
