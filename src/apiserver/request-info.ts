import type { IncomingMessage, ServerResponse } from "node:http";
import type { CountedRequest } from "./request-metrics.ts";
import { createAuditRecord, sourceIPsOf } from "./access/audit.ts";
import type { Audit } from "./access/audit.ts";
import type { AuditRecord } from "./types/audit-record.ts";
import type { Attributes } from "./access/authorization.ts";
import type { UserInfo } from "./types/user-info.ts";

/** A request and what becomes of it. */
export interface RequestInfo {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly warn: (text: string) => void;
  readonly auditID: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  record: AuditRecord | undefined;
  readonly counted: CountedRequest;
}

/** The caller, and the impersonated user. */
export interface RequestCaller {
  readonly caller: UserInfo;
  readonly user: UserInfo;
}

/** Facts about a request for the audit, as far as they are known. */
interface Told extends Partial<RequestCaller> {
  readonly attributes: Attributes;
}

/** Reports a request's attributes to the metrics, and begins its audit record, if wanted. */
export function beginRecord(audit: Audit | undefined, passage: RequestInfo, requestURI: string, { attributes, caller, user }: Told): void {
  passage.counted.attributes = attributes;
  if (audit === undefined) return;
  const { request, auditID, receivedAt } = passage;
  const trail = audit({
    auditID,
    ...(caller && { user: caller }),
    ...(user && user !== caller && { impersonatedUser: user }),
    attributes,
    method: request.method ?? "GET",
    requestURI,
    sourceIPs: sourceIPsOf(request),
    userAgent: request.headers["user-agent"] ?? "",
    receivedAt,
  });
  if (trail !== undefined) passage.record = createAuditRecord(trail);
}
