import { isEngineError } from "../base/errors.ts";
import type { EngineError } from "../base/errors.ts";
import type { ListScope } from "../object/cluster-client.ts";
import type { ResourceType } from "../object/resource.ts";
import type { KubeObject } from "../object/types.ts";
import { isOurs, managedByValue, MANAGED_BY } from "../translate/markers.ts";
import type { Translator } from "../translate/translator.ts";
import type { ClusterReads } from "./cluster-reads.ts";

/** One object on the host that carries all our markers. */
export interface OurCopy {
  readonly resource: ResourceType;
  readonly object: KubeObject;
}

/** A kind that the cluster does not show. */
export interface HiddenKind {
  readonly resource: ResourceType;
  readonly error: EngineError;
}

/** What was found. */
export interface OurCopies {
  readonly copies: readonly OurCopy[];
  /** Kinds that could not be listed, and why. */
  readonly hidden: readonly HiddenKind[];
}

/** Where to look. */
export interface OurCopiesOptions {
  readonly reads: Pick<ClusterReads, "list">;
  readonly scope: ListScope;
  readonly translator: Translator;
  readonly kinds: readonly ResourceType[];
}

/**
 * Every object on the host that is ours. Objects that merely inherited our markers are not among them.
 *
 * @throws API_… when the cluster can not answer; a kind that may not be listed, or that it does not have, is `hidden`.
 * @example
 * const { copies } = await findOurCopies({ reads, scope: { namespace: "vc-blue" }, translator, kinds: [SERVICES, ENDPOINTS] });
 */
export async function findOurCopies({ reads, scope, translator, kinds }: OurCopiesOptions): Promise<OurCopies> {
  const { markerPrefix, vcluster } = translator;
  const labelSelector = `${markerPrefix}${MANAGED_BY}=${managedByValue(vcluster.name)}`;
  const copies: OurCopy[] = [];
  const hidden: HiddenKind[] = [];
  for (const resource of kinds) {
    try {
      const objects = await reads.list(resource, { ...scope, labelSelector });
      const ours = objects.filter((object) => isOurs(markerPrefix, vcluster.name, object, resource));
      copies.push(...ours.map((object) => ({ resource, object })));
    } catch (error) {
      if (!isEngineError(error, "API_FORBIDDEN", "API_NOT_FOUND")) throw error;
      hidden.push({ resource, error });
    }
  }
  return { copies, hidden };
}
