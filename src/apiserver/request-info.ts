import type { CountedRequest } from "./request-metrics.ts";
import { createAuditRecord, sourceIPsOf, type Audit } from "./access/audit.ts";
import type { AuditRecord } from "./types/audit-record.ts";
import type { Attributes } from "./access/authorization.ts";
import type { OpenExchange } from "./http/exchange.ts";
import type { RequestPlace } from "./http/request-target.ts";
import type { UserInfo } from "./types/user-info.ts";

/** A request, and its records for audit and metrics. */
export interface RequestInfo {
  readonly asked: OpenExchange;
  readonly place: RequestPlace;
  readonly auditID: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** Undefined until the caller is known, and if the request is not audited. */
  record: AuditRecord | undefined;
  readonly counted: CountedRequest;
}

/** The user whose credentials a request has, and the user whose permissions apply. */
export interface RequestCaller {
  readonly caller: UserInfo;
  readonly user: UserInfo;
}

/** Starts the audit record of a request; undefined if the request is not audited. */
export function beginRecord(
  audit: Audit,
  { asked: { request, method }, auditID, receivedAt }: RequestInfo,
  requestURI: string,
  { attributes, caller, user }: { readonly attributes: Attributes } & Partial<RequestCaller>,
): AuditRecord | undefined {
  const trail = audit({
    auditID,
    ...(caller && { user: caller }),
    ...(user && user !== caller && { impersonatedUser: user }),
    attributes,
    method,
    requestURI,
    sourceIPs: sourceIPsOf(request),
    userAgent: request.headers["user-agent"] ?? "",
    receivedAt,
  });
  return trail && createAuditRecord(trail);
}
