/**
 * A client and a server that answers as a script says.
 */
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import type { Logger } from "../../../src/base/logger.ts";
import { createMetrics } from "../../../src/base/metrics.ts";
import { createHttpClient, type HttpClientOptions } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import type { ClusterClient } from "../../../src/kube/object/cluster-client.ts";
import { ENDPOINTS } from "../../../src/kube/object/resource.ts";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { startScriptedServer, type Script } from "../../support/scripted-server.ts";

export const KEY = { namespace: "shop", name: "db" };
export const db: KubeObject = { apiVersion: "v1", kind: "Endpoints", metadata: { ...KEY, uid: "1", resourceVersion: "5" } };

/** Closes `one` at the end of the test; the last one is closed first. */
export function closeAfterTest(one: { close(): Promise<void> }): void {
  onTestFinished(() => one.close());
}

interface WorldOptions extends Partial<HttpClientOptions> {
  readonly scheme?: "http" | "https";
  readonly user?: Record<string, unknown>;
  readonly cluster?: Record<string, unknown>;
}

/** A client with logs and metrics to look at, and its server; both end with the test. */
export async function createWorld(script: Script, { scheme = "http", user = {}, cluster = {}, ...options }: WorldOptions = {}) {
  const server = await startScriptedServer({ scheme, script });
  closeAfterTest(server);
  const metrics = createMetrics();
  const lines: string[] = [];
  const line = (message: string, fields = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  const kubeConfig = await loadKubeConfig({ text: server.kubeconfig(user, cluster) });
  const client = createHttpClient({ kubeConfig, clock: systemClock, metrics, logger, ...options });
  closeAfterTest(client);
  return { server, client, metrics, lines };
}

/** Everything that a client can be asked for, in one word each. */
export const CALLS: Record<string, (client: ClusterClient) => Promise<unknown>> = {
  get: (client) => client.get(ENDPOINTS, KEY),
  list: (client) => client.list(ENDPOINTS),
  create: (client) => client.create(ENDPOINTS, db),
  update: (client) => client.update(ENDPOINTS, db),
  patch: (client) => client.patch(ENDPOINTS, KEY, "merge", {}),
  delete: (client) => client.delete(ENDPOINTS, KEY),
};
