import { nextMacrotask } from "../../../base/clock.ts";
import { isEngineError } from "../../../base/errors.ts";
import type { ListOptions } from "../../../kube/object/cluster-client.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { decodeContinue, encodeContinue, type Continue } from "./continue-token.ts";
import { forbidden, notSupported, type FieldError } from "../../types/field-error.ts";
import { storePrefix, type ResourceContext } from "../resource-context.ts";
import { both, compileSelection, type Matches } from "../../types/selection.ts";
import { badRequest, expiredPage, invalidObject, tooOldVersion } from "../../types/status.ts";
import type { Store, StoredObject } from "../../store/store.ts";
import { demandReached, LIST_OPTIONS } from "./get.ts";

/** Options of a list request. */
export interface ListRequest extends ListOptions {
  readonly resourceVersionMatch?: string;
  /** The objects that are visible to the reader. Default: all. */
  readonly visible?: Matches | undefined;
  /** Only valid for watches; refused for lists. */
  readonly sendInitialEvents?: boolean;
}

/** One page of a list: the objects, the version of their state, and the token for the next page, if there is one. */
export interface ListPage {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  readonly continue?: string;
  /** Known only when no selector narrows the list. */
  readonly remainingItemCount?: number;
}

/** Number of objects that a selector is applied to before other requests proceed. */
const SCAN_CHUNK = 500;

/**
 * Reads one page of a collection. All pages of a list show the same state.
 *
 * @throws API_BAD_REQUEST; API_INVALID for options that contradict each other; API_EXPIRED for a state that is no longer available;
 *   API_UNAVAILABLE for a state that the store has not reached.
 */
export async function listObjects({ definition, store }: ResourceContext, request: ListRequest = {}): Promise<ListPage> {
  checkOptions(request);
  const matches = both(compileSelection(definition, request), request.visible);
  const from = request.continue === undefined || request.continue === "" ? undefined : decodeContinue(request.continue);
  const revision = from === undefined ? await stateOf(store, request) : from.revision;
  const limit = request.limit === undefined || request.limit <= 0 ? Infinity : request.limit;
  const prefix = storePrefix(definition.type, request.namespace);
  const range: Range = { prefix, start: `${prefix}${from?.start ?? ""}`, limit, revision };
  const page = await readOrExpire(store, range, matches, from);
  const last = page.objects.at(-1)?.key;
  return {
    items: page.objects.map(({ object }) => object),
    resourceVersion: String(page.revision),
    ...(page.more && { continue: encodeContinue({ revision: page.revision, start: `${last!.slice(prefix.length)}\0` }) }),
    ...(page.more && matches === undefined && { remainingItemCount: page.remaining }),
  };
}

function checkOptions({ resourceVersion = "", resourceVersionMatch = "", continue: token = "", sendInitialEvents }: ListRequest): void {
  const field = "resourceVersionMatch";
  const errors: FieldError[] = [];
  if (resourceVersionMatch !== "") {
    if (resourceVersion === "") errors.push(forbidden(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (token !== "") errors.push(forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
    if (resourceVersionMatch !== "Exact" && resourceVersionMatch !== "NotOlderThan") {
      errors.push(notSupported(field, resourceVersionMatch, ["Exact", "NotOlderThan", ""]));
    }
    if (resourceVersionMatch === "Exact" && resourceVersion === "0") {
      errors.push(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (sendInitialEvents === true) errors.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  if (errors.length > 0) throw invalidObject(LIST_OPTIONS, "", errors);
  if (token !== "" && resourceVersion !== "" && resourceVersion !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
}

/** Returns the exact revision to read; undefined for the current one. A list without limit may return a newer state than requested. */
async function stateOf(store: Store, { resourceVersion, resourceVersionMatch, limit = 0 }: ListRequest): Promise<number | undefined> {
  const requested = await demandReached(store, resourceVersion);
  if (requested === 0) return undefined;
  const exact = resourceVersionMatch === "Exact" || ((resourceVersionMatch ?? "") === "" && limit > 0);
  return exact ? requested : undefined;
}

interface Range {
  readonly prefix: string;
  readonly start: string;
  readonly limit: number;
  readonly revision: number | undefined;
}

interface Page {
  readonly objects: readonly StoredObject[];
  readonly revision: number;
  readonly remaining: number;
  readonly more: boolean;
}

async function readOrExpire(store: Store, range: Range, matches: Matches | undefined, from: Continue | undefined): Promise<Page> {
  try {
    return await read(store, range, matches);
  } catch (error) {
    if (!isEngineError(error, "API_EXPIRED")) throw error;
    if (from !== undefined) throw expiredPage(encodeContinue({ revision: undefined, start: from.start }));
    throw tooOldVersion(range.revision ?? 0, Number(error.details["oldest"]));
  }
}

/**
 * Reads a page. With a selector, the objects are filtered in chunks, and other requests proceed in between. The store is called only once,
 * because each call for an older state processes all keys and the history. A further match after a full page shows that there is another.
 */
async function read(store: Store, { prefix, start, limit, revision: state }: Range, matches: Matches | undefined): Promise<Page> {
  const { objects, revision, remaining } = await store.list({
    prefix,
    start,
    ...(limit !== Infinity && matches === undefined && { limit }),
    ...(state !== undefined && { revision: state }),
  });
  if (matches === undefined) return { objects, revision, remaining, more: remaining > 0 };
  const found: StoredObject[] = [];
  for (const [index, stored] of objects.entries()) {
    if (index % SCAN_CHUNK === SCAN_CHUNK - 1) await nextMacrotask();
    if (!matches(stored.object)) continue;
    if (found.length === limit) return { objects: found, revision, remaining: 0, more: true };
    found.push(stored);
  }
  return { objects: found, revision, remaining: 0, more: false };
}
