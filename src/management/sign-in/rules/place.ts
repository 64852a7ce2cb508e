import type { Provider } from "./admit.ts";

/**
 * Returns the scope in which a provider's user ids are unique: its kind, and its address or tenant.
 *
 * @example
 * placeOf({ kind: "sourceHostB", settings: { baseURL: "https://code.example/" } }); // "sourceHostB https://code.example"
 */
export function placeOf({ kind, settings }: Pick<Provider, "kind" | "settings">): string {
  const { issuerUrl, baseURL, hostName, host, tenant, ssoIssuer, ssoURL } = settings as Readonly<Record<string, string | undefined>>;
  const address = issuerUrl ?? baseURL ?? hostName ?? host ?? tenant ?? (ssoIssuer || ssoURL);
  return `${kind} ${(address ?? "").replace(/\/$/, "")}`;
}
