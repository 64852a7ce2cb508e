/** Options of a kubeconfig. */
export interface KubeconfigOptions {
  /** The name of cluster, user and context; a DNS label. */
  readonly name: string;
  readonly url: string;
  /** The certificate authority to trust; omitted for plain HTTP. */
  readonly caPem?: string;
  /** The bearer token; omitted for a server that requires none. */
  readonly token?: string;
}

/**
 * Formats a kubeconfig with one context. Every scalar is quoted as in JSON, which YAML reads in the same way.
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
