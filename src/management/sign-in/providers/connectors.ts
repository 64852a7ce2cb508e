import { PROVIDER_KINDS } from "./admit.ts";
import type { Provider, ProviderKind } from "./admit.ts";
import type { ProviderSections, SignInSettings } from "../settings.ts";

/**
 * The provider behind an id in the address: a section at the top of `status.auth` by its name, or an additional connector by its id.
 * A connector with several sections is the first of them in the order of the specification.
 *
 * @example
 * findConnector({ connectors: [{ id: "corp", oidc: { issuerUrl: "https://id.example" } }] }, "corp")?.kind; // "oidc"
 */
export function findConnector(settings: SignInSettings, id: string): Provider | undefined {
  const top = PROVIDER_KINDS.find((kind) => kind === id);
  if (top !== undefined && settings[top]) return providerOf(settings, top, id);
  const connector = settings.connectors?.find((entry) => entry.id === id);
  const kind = connector && PROVIDER_KINDS.find((name) => connector[name]);
  return kind && providerOf(connector, kind, id);
}

function providerOf<Kind extends ProviderKind>(sections: ProviderSections, kind: Kind, connector: string): Provider<Kind> {
  return { kind, connector, settings: sections[kind]! };
}
