import { isEngineError, type EngineError } from "../../../base/errors.ts";
import type { ListScope } from "../../../kube/object/cluster-client.ts";
import type { ResourceType } from "../../../kube/object/resource.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { readCopyMarkers } from "../../translate/identity.ts";
import { managedByValue, MANAGED_BY, type CopySource } from "../../translate/markers.ts";
import type { Translator } from "../../translate/translator.ts";
import type { ClusterReads } from "./cluster-reads.ts";

/** One copy on the host, with the source that its markers name. */
export interface MarkedCopy {
  readonly resource: ResourceType;
  readonly object: KubeObject;
  readonly source: CopySource;
}

/** A kind that cannot be listed. */
export interface HiddenKind {
  readonly resource: ResourceType;
  readonly error: EngineError;
}

/** The copies found. */
export interface MarkedCopies {
  readonly copies: readonly MarkedCopy[];
  /** Kinds that could not be listed, and why. */
  readonly hidden: readonly HiddenKind[];
  /** Kinds that could be listed only in the namespaces where the configuration puts copies; undefined when all could be seen everywhere. */
  readonly narrowed: { readonly kinds: readonly ResourceType[]; readonly namespaces: readonly string[] } | undefined;
}

/** Where to look. */
export interface MarkedCopiesOptions {
  readonly reads: Pick<ClusterReads, "list">;
  readonly translator: Translator;
  readonly kinds: readonly ResourceType[];
}

/**
 * Returns every copy on the host whose markers name a virtual cluster with our name, even in another host namespace; objects that merely
 * inherited markers are left out. Reads all namespaces if that is allowed, because an earlier configuration may have put copies anywhere;
 * otherwise those of the configuration.
 *
 * @throws API_… when the cluster cannot respond. A kind that must not be listed, or that the cluster does not have, is `hidden`.
 * @example
 * const { copies } = await findMarkedCopies({ reads, translator, kinds: [SERVICES, ENDPOINTS] });
 * const ours = copies.filter(({ source }) => whose(identity, source) === "ours");
 */
export async function findMarkedCopies({ reads, translator, kinds }: MarkedCopiesOptions): Promise<MarkedCopies> {
  const { markerPrefix, vcluster } = translator;
  const labelSelector = `${markerPrefix}${MANAGED_BY}=${managedByValue(vcluster.name)}`;
  const targets = translator.targetNamespaces();
  const known: readonly ListScope[] = targets === "all" ? [{}] : targets.map((namespace) => ({ namespace }));
  const copies: MarkedCopy[] = [];
  const hidden: HiddenKind[] = [];
  const narrowed: ResourceType[] = [];

  async function list(resource: ResourceType, scopes: readonly ListScope[]): Promise<KubeObject[]> {
    const lists = await Promise.all(scopes.map((scope) => reads.list(resource, { ...scope, labelSelector })));
    return lists.flat();
  }

  async function listWidely(resource: ResourceType): Promise<KubeObject[]> {
    try {
      return await list(resource, [{}]);
    } catch (error) {
      if (!isEngineError(error, "API_FORBIDDEN") || targets === "all") throw error;
      const objects = await list(resource, known);
      narrowed.push(resource);
      return objects;
    }
  }

  for (const resource of kinds) {
    try {
      for (const object of await listWidely(resource)) {
        const source = readCopyMarkers(markerPrefix, object, resource);
        if (source?.vcluster === vcluster.name) copies.push({ resource, object, source });
      }
    } catch (error) {
      if (!isEngineError(error, "API_FORBIDDEN", "API_NOT_FOUND")) throw error;
      hidden.push({ resource, error });
    }
  }
  const places = targets === "all" ? [] : targets;
  return { copies, hidden, narrowed: narrowed.length === 0 ? undefined : { kinds: narrowed, namespaces: places } };
}
