import type { RequestOptions } from "node:https";
import { resolveConnection, type KubeConfigView } from "../../src/kube/client/connection.ts";
import { asClientNode } from "../../src/kube/client/credentials/provider-auth.ts";
import type { ClusterAddress } from "./raw-client.ts";

/**
 * The cluster and the credentials of the current context, for requests as they are on the wire. Tokens of programs are asked for
 * once, so a run has to end before they do.
 */
export async function addressOf(kubeConfig: KubeConfigView): Promise<ClusterAddress> {
  const { origin, basePath } = resolveConnection(kubeConfig);
  const options: RequestOptions = {};
  await (await asClientNode(kubeConfig)).applyToHTTPSOptions(options);
  const headers = (options.headers ?? {}) as Readonly<Record<string, string | undefined>>;
  const token = /^Bearer (.+)$/i.exec(headers["Authorization"] ?? "")?.[1];
  const pem = (value: unknown) => (value === undefined ? undefined : String(value));
  const [caPem, certPem, keyPem] = [pem(options.ca), pem(options.cert), pem(options.key)];
  return {
    url: origin + basePath,
    ...(token && { token }),
    ...(caPem && { caPem }),
    ...(certPem && { certPem }),
    ...(keyPem && { keyPem }),
  };
}
