import { isLive } from "../providers/provider-clients.ts";
import type { Provider, ProviderKind } from "../rules/admit.ts";
import { providersIn } from "../rules/connectors.ts";
import type { SignInSettings } from "../settings.ts";
import type { Way } from "./pages.ts";

/** Names under which users know providers, if no `displayName` is set. */
const NAMES: Readonly<Record<ProviderKind, string>> = {
  oidc: "OpenID Connect",
  sourceHostA: "GitHub",
  sourceHostB: "GitLab",
  directoryProviderA: "Google",
  directoryProviderB: "Microsoft",
  saml: "SAML",
  clusterManager: "Rancher",
};

/**
 * Returns the providers for sign-in: the data that a page shows and programs may read, without hosts, clients and restrictions.
 *
 * @example
 * waysOf({ sourceHostA: { clientId: "platform", clientSecret: "secret" } });
 * // [{ id: "sourceHostA", displayName: "GitHub", type: "sourceHostA", flow: "redirect" }]
 */
export function waysOf(settings: SignInSettings): readonly Way[] {
  return providersIn(settings)
    .filter(isLive)
    .map((provider) => ({
      id: provider.connector,
      displayName: nameOf(provider, settings),
      type: provider.kind,
      flow: provider.kind === "clusterManager" ? "token" : "redirect",
    }));
}

function nameOf({ connector, kind }: Provider, { connectors = [] }: SignInSettings): string {
  return connectors.find(({ id }) => id === connector)?.displayName || NAMES[kind];
}
