import { EngineError, isEngineError } from "../../../base/errors.ts";
import type { ClusterClient, ListScope, ObjectList } from "../../object/cluster-client.ts";
import type { ResourceType } from "../../object/resource.ts";
import type { KubeObject } from "../../object/types.ts";

/** Maximum number of pages of a list, including empty ones. */
const PAGES_MAX = 10_000;
/** Maximum text of a list, in characters: the same as a client's limit for one response. */
export const LIST_TEXT_MAX = 128 << 20;

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
 * Lists every object in scope. If the list expires between two pages, it is read again in one piece, as client-go does.
 *
 * @throws API_LIST_TOO_LARGE when the pages do not end, or contain too much text; errors of the client.
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
  let textLength = first.textLength ?? 0;
  for (let pages = 1; pages < PAGES_MAX; pages++) {
    const page = await client.list(resource, { ...scope, limit: pageSize, continue: next, signal });
    textLength += page.textLength ?? 0;
    if (textLength > LIST_TEXT_MAX) throw listTooLarge(resource, `${LIST_TEXT_MAX} characters`);
    for (const item of page.items) items.push(item);
    // All pages show the state of the first one. If a server behaves differently, a watch from its earliest state misses no event.
    if (page.continue === undefined) return { items, resourceVersion: first.resourceVersion };
    next = page.continue;
  }
  throw listTooLarge(resource, `${PAGES_MAX} pages`);
}

/** The error API_LIST_TOO_LARGE. */
export function listTooLarge({ plural }: ResourceType, limit: string): EngineError {
  return new EngineError("API_LIST_TOO_LARGE", `Cannot list ${plural}: the server returns more than ${limit}`);
}
