/**
 * Reads audit lines from a database: converts the query of a request into a page of events.
 *
 * @module
 */
import { nextMacrotask } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { Logger } from "../../base/logger.ts";
import { badRequest, unavailable } from "../../apiserver/types/status.ts";
import type { AuditFilter, AuditPlace } from "./store/audit-database.ts";
import type { AuditStore } from "./store/audit-store.ts";

/** Where administrators read audit lines, below the base path. */
export const AUDIT_EVENTS_PATH = "/audit/events";

/** Answers one query with a list of events, newest first. */
export type AuditEvents = (query: URLSearchParams) => Promise<object>;

/** Options of the reader. */
export interface AuditEventsOptions {
  /** The lines; undefined while the configuration names no database. */
  readonly store: () => Pick<AuditStore, "look"> | undefined;
  readonly logger: Logger;
}

/** Default and largest number of events on one page. */
export const AUDIT_PAGE = 100;
export const AUDIT_PAGE_MAX = 500;
/** Characters after which a page ends; the events of its last query may exceed them. */
const PAGE_LENGTH_MAX = 4 * 1_048_576;
/** Most lines that one query scans, most events that it returns, and most queries for one page. */
const SCAN_LINES = 2_000;
const LOOK_LINES = 32;
const LOOKS_MAX = 50;
/** Longest value of a filter. */
const VALUE_LENGTH_MAX = 253;

const FILTERS = ["user", "verb", "resource", "namespace", "name", "stage", "auditID"] as const satisfies readonly (keyof AuditFilter)[];
const KNOWN: readonly string[] = [...FILTERS, "code", "since", "until", "limit", "continue", "pretty"];
/** The position after the newest line. */
const NEWEST: AuditPlace = { at: Number.MAX_SAFE_INTEGER, writer: "~", seq: Number.MAX_SAFE_INTEGER };

/**
 * Returns pages of events. A page may contain fewer events than requested, or none, even though more follow: `metadata.continue` indicates
 * this.
 *
 * @throws API_BAD_REQUEST for an invalid query, API_UNAVAILABLE when there is no database, or when it fails.
 */
export function createAuditEvents({ store, logger }: AuditEventsOptions): AuditEvents {
  return async (query) => {
    const { filter, since, from, limit } = wantedBy(query);
    const lines = store();
    if (lines === undefined) throw unavailable("there is no audit database: set audit.dataStoreEndpoint");
    const items: unknown[] = [];
    let next: AuditPlace | undefined = from;
    let length = 0;
    let broken = 0;
    try {
      for (let looks = 0; next !== undefined && looks < LOOKS_MAX && items.length < limit && length < PAGE_LENGTH_MAX; looks++) {
        const most = Math.min(LOOK_LINES, limit - items.length);
        const found = await lines.look({ filter, before: next, since, scan: SCAN_LINES, most });
        for (const line of found.lines) {
          const event = eventIn(line);
          if (event === undefined) broken++;
          else items.push(event);
          length += line.length;
        }
        next = found.next;
        // Parsing lines blocks this thread, so other work gets a turn between two queries.
        if (next !== undefined) await nextMacrotask();
      }
    } catch (error) {
      logger.warn("The audit database cannot be read", { error: messageOf(error) });
      throw unavailable("the audit database cannot be read at the moment");
    }
    if (broken > 0) logger.warn("Rows of the audit database that contain no event are skipped", { rows: broken });
    return { kind: "EventList", apiVersion: "audit.k8s.io/v1", metadata: next === undefined ? {} : { continue: tokenOf(next) }, items };
  };
}

/** Returns undefined for a line that is not an event: others may have written to the table, or have shortened lines. */
function eventIn(line: string): object | undefined {
  try {
    const event: unknown = JSON.parse(line);
    return isRecord(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

function wantedBy(query: URLSearchParams) {
  for (const name of query.keys()) {
    if (!KNOWN.includes(name))
      throw badRequest(`unknown parameter ${JSON.stringify(name.slice(0, 60))}; the known ones are ${KNOWN.join(", ")}`);
    if (query.getAll(name).length > 1) throw badRequest(`the parameter ${name} is given twice`);
    if (query.get(name)!.length > VALUE_LENGTH_MAX) throw badRequest(`the parameter ${name} is longer than ${VALUE_LENGTH_MAX} characters`);
  }
  const given = FILTERS.filter((name) => query.has(name)).map((name) => [name, query.get(name)!] as const);
  const code = numberOf(query, "code", 999);
  const token = query.get("continue");
  const until = momentOf(query, "until");
  const limit = numberOf(query, "limit", Number.MAX_SAFE_INTEGER) ?? AUDIT_PAGE;
  return {
    filter: { ...Object.fromEntries(given), ...(code !== undefined && { code }) } satisfies AuditFilter,
    since: momentOf(query, "since") ?? 0,
    from: token !== null && token !== "" ? placeOf(token) : until === undefined ? NEWEST : { at: until, writer: "", seq: 0 },
    limit: Math.min(limit === 0 ? AUDIT_PAGE : limit, AUDIT_PAGE_MAX),
  };
}

function numberOf(query: URLSearchParams, name: string, most: number): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[0-9]{1,15}$/.test(text) || Number(text) > most) throw badRequest(`the parameter ${name} is not a whole number from 0 to ${most}`);
  return Number(text);
}

const MOMENT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z$/;

function momentOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const at = MOMENT.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(at)) throw badRequest(`the parameter ${name} is not a timestamp such as 2026-01-31T12:00:00Z`);
  return at;
}

function tokenOf({ at, writer, seq }: AuditPlace): string {
  return Buffer.from(`${at}.${seq}.${writer}`).toString("base64url");
}

function placeOf(token: string): AuditPlace {
  const [, at, seq, writer] = /^([0-9]{1,16})\.([0-9]{1,16})\.([0-9a-f-]{0,64})$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (writer === undefined) throw badRequest("the parameter continue has a value that this server did not return");
  return { at: Number(at), writer, seq: Number(seq) };
}
