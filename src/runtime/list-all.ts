import { EngineError, isEngineError } from "../base/errors.ts";
import type { ClusterClient, ListScope, ObjectList } from "../object/cluster-client.ts";
import type { ResourceType } from "../object/resource.ts";
import type { KubeObject } from "../object/types.ts";

/** A server that hands out more pages than this is not believed. */
const PAGES_MAX = 10_000;

/** A complete list, page by page. */
export interface ListAllOptions {
  readonly client: Pick<ClusterClient, "list">;
  readonly resource: ResourceType;
  readonly scope: ListScope;
  /** Objects per page. Small pages keep the event loop responsive: parsing 500 Endpoints takes a few milliseconds. */
  readonly pageSize: number;
  readonly signal: AbortSignal;
}

/** Every object, and the state that a watch continues from. */
export type CompleteList = Pick<ObjectList, "items" | "resourceVersion">;

/**
 * Every object in scope. When the server forgets the list between two pages, it is read again in one piece, as client-go does.
 *
 * @throws API_ERROR when the pages do not end; whatever the client throws.
 * @example
 * const { items, resourceVersion } = await listAll({ client, resource: ENDPOINTS, scope: {}, pageSize: 500, signal });
 */
export async function listAll(options: ListAllOptions): Promise<CompleteList> {
  const { client, resource, scope, pageSize, signal } = options;
  const first = await client.list(resource, { ...scope, limit: pageSize, signal });
  if (first.continue === undefined) return first;
  try {
    return await readPages(options, first, first.continue);
  } catch (error) {
    if (!isEngineError(error, "API_EXPIRED")) throw error;
    return client.list(resource, { ...scope, signal });
  }
}

async function readPages(
  { client, resource, scope, pageSize, signal }: ListAllOptions,
  first: ObjectList,
  next: string,
): Promise<CompleteList> {
  const items: KubeObject[] = [...first.items];
  for (let pages = 1; pages < PAGES_MAX; pages++) {
    const page = await client.list(resource, { ...scope, limit: pageSize, continue: next, signal });
    for (const item of page.items) items.push(item);
    // All pages show the state of the first one; should a server differ, its earliest state is the one that misses no event.
    if (page.continue === undefined) return { items, resourceVersion: first.resourceVersion };
    next = page.continue;
  }
  throw new EngineError("API_ERROR", `Cannot list ${resource.plural}: the server hands out more than ${PAGES_MAX} pages`);
}
