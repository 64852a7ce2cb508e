import type { KubeConfig, RequestContext } from "@kubernetes/client-node";
import { EngineError, messageOf } from "../../../base/errors.ts";
import type { Connection, KubeConfigView } from "../connection.ts";

/** The user whose credentials are needed. */
export interface ProviderOptions {
  readonly kubeConfig: KubeConfig;
  readonly connection: Connection;
}

/**
 * Returns the kubeconfig in the form that client-node's authenticators expect: the kubeconfig itself if it already has that form, or a new
 * one with the same entries.
 *
 * client-node is imported here and not at the top, because the import takes a quarter of a second and 45 MB, and few kubeconfigs need it.
 *
 * @example
 * const kubeConfig = await asClientNode(await loadKubeConfig({ path: "tenant.yaml" }));
 */
export async function asClientNode(view: KubeConfigView): Promise<KubeConfig> {
  if ("applySecurityAuthentication" in view) return view as KubeConfig;
  const { KubeConfig } = await import("@kubernetes/client-node");
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromOptions({
    clusters: view.getClusters(),
    users: view.getUsers(),
    contexts: view.getContexts(),
    currentContext: view.getCurrentContext(),
  });
  return kubeConfig;
}

/**
 * Returns the headers from client-node's own authenticators: OIDC refresh, the older cloud providers, and any added by
 * `KubeConfig.addAuthenticator`.
 *
 * @throws API_UNAUTHORIZED when the authenticator fails.
 * @example
 * await authenticateByProvider({ kubeConfig, connection }); // { authorization: "Bearer …" }
 */
export async function authenticateByProvider({ kubeConfig, connection }: ProviderOptions): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  const request = {
    setHeaderParam: (name: string, value: string) => void (headers[name.toLowerCase()] = value),
    // client-node prepares its own connections for each request. They are discarded before they are opened.
    setDispatcher: (dispatcher: { destroy(): Promise<void> }) => void dispatcher.destroy().catch(() => undefined),
  };
  try {
    await viewOf(kubeConfig, connection.context).applySecurityAuthentication(request as unknown as RequestContext);
    return headers;
  } catch (cause) {
    throw new EngineError("API_UNAUTHORIZED", `Cannot get credentials of context "${connection.context}": ${messageOf(cause)}`, { cause });
  }
}

/** Returns the same kubeconfig with another current context, because two clients may use one kubeconfig. */
function viewOf(kubeConfig: KubeConfig, context: string): KubeConfig {
  const view = Object.assign(Object.create(Object.getPrototypeOf(kubeConfig) as object) as KubeConfig, kubeConfig);
  view.setCurrentContext(context);
  return view;
}
