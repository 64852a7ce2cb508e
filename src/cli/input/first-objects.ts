import { EngineError, isEngineError, messageOf } from "../../base/errors.ts";
import type { EmbeddedCluster } from "../../cluster/cluster.ts";
import type { KubeObject } from "../../kube/object/types.ts";
import { displayName, documentOf } from "./objects.ts";

/** The namespace of objects that do not specify one, as in kubectl. */
const DEFAULT_NAMESPACE = "default";

/**
 * Creates the initial objects of a cluster, in order. Existing objects do not change, so that a cluster that keeps its data can be
 * restarted with the same file.
 *
 * @throws USAGE when the cluster does not serve a kind, or refuses an object. The message names the object and its place in the file.
 * @example
 * await createMissing(cluster, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }]);
 */
export async function createMissing({ registry, client }: EmbeddedCluster, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const { apiVersion, kind, metadata } = object;
    const type = registry.definitions
      .map((definition) => definition.type)
      .find((one) => one.kind === kind && one.apiVersion === apiVersion);
    const place = documentOf(object);
    const subject = `${displayName(object)}${place === undefined ? "" : ` of ${place}`}`;
    const fail = (why: string, hint: string, cause?: unknown) =>
      new EngineError("USAGE", `Cannot create ${subject}: ${why}`, { cause, details: { hint } });
    if (type === undefined)
      throw fail(`the cluster serves no ${apiVersion} ${kind}`, "Correct apiVersion and kind, or remove the document");
    const placed = type.namespaced ? { ...object, metadata: { namespace: DEFAULT_NAMESPACE, ...metadata } } : object;
    await client.create(type, placed).catch((error: unknown) => {
      if (!isEngineError(error, "API_ALREADY_EXISTS")) throw fail(messageOf(error), remedyOf(error, placed), error);
    });
  }
}

function remedyOf(error: unknown, { metadata: { namespace } }: KubeObject): string {
  const lacksNamespace = isEngineError(error, "API_NOT_FOUND") && namespace !== undefined;
  return lacksNamespace
    ? `Add the Namespace "${namespace}" before the object, in this file or in an earlier -f`
    : "Correct the document, or remove it";
}
