import { beginningOf, eventLine, type AuditEvent } from "../event.ts";

/** Most bytes of a line in a database; the bodies of a longer line are left out there. The file has them. */
export const AUDIT_ROW_BYTES_MAX = 262_144;

/** A line with its searchable columns. */
export interface AuditRow {
  /** When its stage was reached, in milliseconds since 1970. */
  readonly at: number;
  /** The process that wrote the line, and its sequence number there. They identify a line that is sent again. */
  readonly writer: string;
  readonly seq: number;
  readonly auditID: string;
  readonly stage: string;
  /** Empty for requests without a known key. */
  readonly user: string;
  readonly verb: string;
  /** Empty for paths that name no resource. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** HTTP status; 0 at stages without one. */
  readonly code: number;
  /** JSON without a line end. */
  readonly line: string;
}

/** Longest text of a column, in UTF-16 units. Longer texts are cut; the line has them in full. */
const COLUMN_LENGTH_MAX = 253;
const NOTE = `omitted: the line has more than ${AUDIT_ROW_BYTES_MAX} bytes; the audit file contains it`;

/**
 * The database row of an audit line.
 *
 * @example
 * auditRow(line, event, { writer: "a", seq: 1 }).user; // "jane"
 */
export function auditRow(line: string, event: AuditEvent, { writer, seq }: Pick<AuditRow, "writer" | "seq">): AuditRow {
  const { facts, stage, at, responseStatus, name = "" } = event;
  const { attributes } = facts;
  const subject = "resource" in attributes ? attributes : { resource: "", namespace: "", name: "", subresource: "" };
  return {
    at,
    writer,
    seq,
    stage,
    auditID: facts.auditID,
    user: column(facts.user?.name ?? ""),
    verb: column(attributes.verb),
    resource: column(subject.subresource === "" ? subject.resource : `${subject.resource}/${subject.subresource}`),
    namespace: column(subject.namespace),
    name: column(subject.name || name),
    code: responseStatus?.code ?? 0,
    line: shortened(line, event).trimEnd(),
  };
}

function column(text: string): string {
  return beginningOf(text, COLUMN_LENGTH_MAX);
}

function shortened(line: string, whole: AuditEvent): string {
  // No character takes more than three bytes for each of its units.
  if (line.length * 3 <= AUDIT_ROW_BYTES_MAX || Buffer.byteLength(line) <= AUDIT_ROW_BYTES_MAX) return line;
  const { request: _request, response: _response, ...event } = whole;
  const annotations = { ...event.annotations, "management.platform/bodies": NOTE };
  const short = eventLine({ ...event, annotations });
  if (Buffer.byteLength(short) <= AUDIT_ROW_BYTES_MAX) return short;
  // Addresses and names may be long too.
  const { facts, stage, at } = event;
  return eventLine({
    level: event.level,
    stage,
    at,
    annotations: { "management.platform/bodies": NOTE },
    facts: { ...facts, requestURI: facts.requestURI.slice(0, 4_096), userAgent: "", sourceIPs: facts.sourceIPs.slice(0, 10) },
  });
}
