/** Input of a kubeconfig. Names are DNS labels. */
export interface KubeconfigOptions {
  /** Name of cluster, user and context. */
  readonly name: string;
  readonly url: string;
  /** The authority to trust; left out for plain HTTP. */
  readonly caPem?: string;
  /** The bearer token; left out for a server that requires none. */
  readonly token?: string;
}

/**
 * A kubeconfig with one context. Every scalar is quoted as in JSON, which YAML reads in the same way.
 *
 * @example
 * formatKubeconfig({ name: "demo", url: "http://127.0.0.1:8001" });
 */
export function formatKubeconfig({ name, url, caPem, token }: KubeconfigOptions): string {
  const quoted = JSON.stringify(name);
  return [
    "apiVersion: v1",
    "kind: Config",
    "clusters:",
    `- name: ${quoted}`,
    "  cluster:",
    `    server: ${JSON.stringify(url)}`,
    ...(caPem === undefined ? [] : [`    certificate-authority-data: ${Buffer.from(caPem).toString("base64")}`]),
    "users:",
    `- name: ${quoted}`,
    ...(token === undefined ? ["  user: {}"] : ["  user:", `    token: ${JSON.stringify(token)}`]),
    "contexts:",
    `- name: ${quoted}`,
    "  context:",
    `    cluster: ${quoted}`,
    `    user: ${quoted}`,
    "    namespace: default",
    `current-context: ${quoted}`,
    "",
  ].join("\n");
}
