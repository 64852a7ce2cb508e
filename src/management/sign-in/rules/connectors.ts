import { PROVIDER_KINDS, type Provider, type ProviderKind } from "./admit.ts";
import type { SignInSettings } from "../settings.ts";

/**
 * Returns the provider with an id from a URL: a section at the top of `status.auth` by its name, or an additional connector by its id.
 * If a connector has several sections, the first one in the order of the specification applies.
 *
 * @example
 * findConnector({ connectors: [{ id: "corp", oidc: { issuerUrl: "https://id.example" } }] }, "corp")?.kind; // "oidc"
 */
export function findConnector(settings: SignInSettings, id: string): Provider | undefined {
  const top = PROVIDER_KINDS.find((kind) => kind === id);
  if (top !== undefined && settings[top]) return providerOf(settings, top, id);
  const connector = settings.connectors?.find((entry) => entry.id === id);
  const kind = connector && PROVIDER_KINDS.find((name) => (connector as SignInSettings)[name]);
  return kind && providerOf(connector as SignInSettings, kind, id);
}

function providerOf<Kind extends ProviderKind>(sections: SignInSettings, kind: Kind, connector: string): Provider<Kind> {
  return { kind, connector, settings: sections[kind]! };
}

/** Returns every provider of the settings: the sections at the top of `status.auth`, then the additional connectors in their order. */
export function providersIn(settings: SignInSettings): readonly Provider[] {
  const ids = [...PROVIDER_KINDS, ...(settings.connectors ?? []).map(({ id }) => id)];
  return ids.flatMap((id) => findConnector(settings, id) ?? []);
}
