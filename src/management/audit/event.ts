import { escapeControls } from "../../base/escape-controls.ts";
import type { Status } from "../../kube/object/status.ts";
import type { AuditFacts } from "../../apiserver/access/audit.ts";
import type { UserInfo } from "../../apiserver/types/user-info.ts";
import type { AuditLevel, AuditStage } from "./policy.ts";

/** Most bytes of one body's JSON text; a longer one is left out, with a note. */
export const AUDIT_BODY_BYTES_MAX = 2 * 1_048_576;

/** Most characters of a value in `user.extra`, such as the scope of a key; a longer one is cut, because every line of the key has it. */
export const AUDIT_EXTRA_LENGTH_MAX = 1_024;

/** A body as written: its JSON text, or why it is left out. */
export type WrittenBody = { readonly text: string } | { readonly note: string };

/** The content of a line. */
export interface AuditEvent {
  readonly level: AuditLevel;
  readonly stage: AuditStage;
  readonly facts: AuditFacts;
  /** Name of the object, if the path has none. Default "". */
  readonly name?: string;
  readonly responseStatus?: Partial<Status>;
  readonly request?: WrittenBody;
  readonly response?: WrittenBody;
  /** Facts that only the handler of the request knows. Default: none. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** When the stage was reached, in milliseconds since 1970. */
  readonly at: number;
}

/** Characters that move a terminal's cursor or change the reading direction; JSON does not escape them. */
const UNSAFE = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A body as JSON, if it can be written and is not too long.
 *
 * @example
 * writtenBody({ kind: "Team" }); // { text: '{"kind":"Team"}' }
 */
export function writtenBody(body: unknown): WrittenBody {
  try {
    const text = JSON.stringify(body) ?? "null";
    const bytes = Buffer.byteLength(text);
    if (bytes <= AUDIT_BODY_BYTES_MAX) return { text };
    return { note: `left out: it has ${bytes} bytes, more than ${AUDIT_BODY_BYTES_MAX}` };
  } catch {
    // Nested too deep, or too long for a string.
    return { note: "left out: it cannot be written as text" };
  }
}

/**
 * One line of the log, including its line end. Source: `audit.k8s.io/v1` Event.
 *
 * @example
 * eventLine({ level: "Metadata", stage: "ResponseComplete", facts, at }); // '{"kind":"Event","apiVersion":"audit.k8s.io/v1",…}\n'
 */
export function eventLine({ level, stage, facts, name = "", responseStatus, request, response, annotations, at }: AuditEvent): string {
  const { auditID, requestURI, attributes, user, impersonatedUser, sourceIPs, userAgent, receivedAt } = facts;
  const notes = { ...annotations, ...noteOf("request-object", request), ...noteOf("response-object", response) };
  const head = {
    ...{ kind: "Event", apiVersion: "audit.k8s.io/v1", level, auditID, stage, requestURI, verb: attributes.verb },
    user: user === undefined ? {} : userOf(user),
    ...(impersonatedUser && { impersonatedUser: userOf(impersonatedUser) }),
    sourceIPs,
    ...(userAgent !== "" && { userAgent }),
    ...("resource" in attributes && { objectRef: referenceOf(attributes, name) }),
    ...(responseStatus && { responseStatus: { metadata: {}, ...responseStatus } }),
  };
  const times = { requestReceivedTimestamp: microTime(receivedAt), stageTimestamp: microTime(at) };
  const tail = { ...times, ...(Object.keys(notes).length > 0 && { annotations: notes }) };
  const members = [inner(head), ...bodyMember("requestObject", request), ...bodyMember("responseObject", response), inner(tail)];
  return `${escapeControls(`{${members.join(",")}}`, UNSAFE)}\n`;
}

function inner(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

/** Bodies are JSON texts already. */
function bodyMember(field: string, body: WrittenBody | undefined): readonly string[] {
  return body !== undefined && "text" in body ? [`"${field}":${body.text}`] : [];
}

function noteOf(what: string, body: WrittenBody | undefined): Readonly<Record<string, string>> {
  return body !== undefined && "note" in body ? { [`management.platform/${what}`]: body.note } : {};
}

function userOf({ name, groups, extra }: UserInfo): object {
  if (extra === undefined) return { username: name, groups };
  const short = Object.entries(extra).map(([key, values]) => [key, values.map(shortValue)]);
  return { username: name, groups, extra: Object.fromEntries(short) as object };
}

function shortValue(text: string): string {
  return text.length <= AUDIT_EXTRA_LENGTH_MAX ? text : `${beginningOf(text, AUDIT_EXTRA_LENGTH_MAX)}… (${text.length} characters)`;
}

/** The first characters of a text, without half of a surrogate pair at the end. */
export function beginningOf(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

function referenceOf(attributes: Extract<AuditFacts["attributes"], { resource: string }>, name: string): object {
  const { resource, namespace, group, version, subresource } = attributes;
  const members = { resource, namespace, name: attributes.name || name, apiGroup: group, apiVersion: version, subresource };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ""));
}

/** The format has microseconds, the clock milliseconds. */
function microTime(at: number): string {
  return new Date(at).toISOString().replace("Z", "000Z");
}
