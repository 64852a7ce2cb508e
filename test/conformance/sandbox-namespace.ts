/**
 * A namespace of one's own in a cluster that others may use too.
 */
import { randomBytes } from "node:crypto";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import { CONFIG_MAPS, NAMESPACES } from "../../src/kube/object/resource.ts";
import type { KubeObject } from "../../src/kube/object/types.ts";
import { PATIENCE_MS } from "../support/patience.ts";

/** A new namespace and the way to be rid of it. */
export interface SandboxNamespace {
  readonly name: string;
  remove(): Promise<void>;
}

/** Creates a namespace under an unused name. */
export async function createNamespace(client: ClusterClient): Promise<SandboxNamespace> {
  const name = `conformance-${randomBytes(4).toString("hex")}`;
  await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return { name, remove: async () => void (await client.delete(NAMESPACES, { namespace: "", name })) };
}

/** Objects to write, in one namespace. */
export interface Objects {
  configMap(name: string, data?: Record<string, string>, metadata?: KubeObject["metadata"]): KubeObject;
  service(name: string, spec?: Record<string, unknown>): KubeObject;
  endpoints(name: string, subsets?: unknown): KubeObject;
}

/** Makes objects for `namespace`. */
export function objectsOf(namespace: string): Objects {
  const metadata = (name: string) => ({ namespace, name });
  return {
    configMap: (name, data = {}, more = {}) => ({
      apiVersion: "v1",
      kind: CONFIG_MAPS.kind,
      metadata: { ...metadata(name), ...more },
      data,
    }),
    service: (name, spec = { ports: [{ port: 80 }] }) => ({ apiVersion: "v1", kind: "Service", metadata: metadata(name), spec }),
    endpoints: (name, subsets = [{ addresses: [{ ip: "10.1.0.1" }], ports: [{ port: 80 }] }]) => ({
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: metadata(name),
      subsets,
    }),
  };
}

/** Resolves with what `read` answers once it answers something; real clusters take their time. */
export async function eventually<T>(what: string, read: () => Promise<T | undefined>, limitMs = PATIENCE_MS): Promise<T> {
  const start = performance.now();
  for (;;) {
    const found = await read();
    if (found !== undefined) return found;
    if (performance.now() - start > limitMs) throw new Error(`Still not so after ${limitMs} ms: ${what}`);
    await new Promise<void>((resolve) => setTimeout(resolve, 5));
  }
}
