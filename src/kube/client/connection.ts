import type { Cluster, Context, User } from "@kubernetes/client-node/dist/config_types.js";
import { EngineError } from "../../base/errors.ts";

/** The parts of a kubeconfig that the client reads. client-node's `KubeConfig` has all of them. */
export interface KubeConfigView {
  /** Name of the current context; "" when there is none. */
  getCurrentContext(): string;
  getContexts(): Context[];
  getClusters(): Cluster[];
  getUsers(): User[];
}

/** One context of a kubeconfig, resolved. */
export interface Connection {
  readonly context: string;
  readonly cluster: Cluster;
  /** Undefined: anonymous. */
  readonly user: User | undefined;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path in front of every request, without a slash at its end; "" for most servers. */
  readonly basePath: string;
  /** True if credentials may be sent, because the connection is encrypted or does not leave this machine. */
  readonly trusted: boolean;
}

/**
 * Resolves a context (default: the current one) to server and user.
 *
 * @throws CONFIG_VALUE when the context, or the cluster or user it names, is missing, or the server is not an http(s) address.
 * @example
 * resolveConnection(kubeConfig, "tenant").origin; // "https://10.0.0.1:6443"
 */
export function resolveConnection(kubeConfig: KubeConfigView, name?: string): Connection {
  const context = name ?? kubeConfig.getCurrentContext();
  const entry = context ? kubeConfig.getContexts().find((candidate) => candidate.name === context) : undefined;
  if (!entry) throw noContext(kubeConfig, context);
  const cluster = kubeConfig.getClusters().find((candidate) => candidate.name === entry.cluster);
  if (!cluster)
    throw new EngineError(
      "CONFIG_VALUE",
      `Context "${context}" of the kubeconfig names cluster "${entry.cluster}", which the kubeconfig does not contain`,
    );
  const user = entry.user ? kubeConfig.getUsers().find((candidate) => candidate.name === entry.user) : undefined;
  if (entry.user && !user)
    throw new EngineError(
      "CONFIG_VALUE",
      `Context "${context}" of the kubeconfig names user "${entry.user}", which the kubeconfig does not contain`,
    );
  const server = parseServer(cluster.server, context);
  const trusted = server.protocol === "https:" || isLoopback(server.hostname);
  return { context, cluster, user, origin: server.origin, basePath: server.pathname.replace(/\/+$/, ""), trusted };
}

function noContext(kubeConfig: KubeConfigView, context: string | undefined): EngineError {
  const known = kubeConfig.getContexts().map((candidate) => JSON.stringify(candidate.name));
  if (known.length === 0) return new EngineError("CONFIG_VALUE", "The kubeconfig has no contexts; check that it is a complete kubeconfig");
  const have = `it has ${known.slice(0, 20).join(", ")}`;
  if (!context) return new EngineError("CONFIG_VALUE", `The kubeconfig has no current context; name one: ${have}`);
  return new EngineError("CONFIG_VALUE", `The kubeconfig has no context ${JSON.stringify(context)}; ${have}`);
}

function parseServer(server: string, context: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  throw new EngineError(
    "CONFIG_VALUE",
    `Context "${context}" of the kubeconfig: expected an http(s) address as server, found ${JSON.stringify(server)}`,
  );
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.[0-9]+){3}$/.test(host);
}
