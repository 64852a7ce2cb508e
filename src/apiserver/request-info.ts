import type { IncomingMessage } from "node:http";
import type { CountedRequest } from "./request-metrics.ts";
import { createAuditRecord, sourceIPsOf } from "./access/audit.ts";
import type { Audit } from "./access/audit.ts";
import type { AuditRecord } from "./types/audit-record.ts";
import type { Attributes } from "./access/authorization.ts";
import type { HeadedResponse } from "./http/answer/headed-response.ts";
import type { RequestPlace } from "./http/request-target.ts";
import type { UserInfo } from "./types/user-info.ts";

/** A request and what it becomes. */
export interface RequestInfo {
  readonly request: IncomingMessage;
  readonly place: RequestPlace;
  readonly response: HeadedResponse;
  readonly warn: (text: string) => void;
  readonly auditID: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  record: AuditRecord | undefined;
  readonly counted: CountedRequest;
}

/** Whose credentials a request shows, and the user that it is answered as. */
export interface RequestCaller {
  readonly caller: UserInfo;
  readonly user: UserInfo;
}

/** Records the parsed request for the metrics, and starts its audit record if auditing is enabled. */
export function beginRecord(
  audit: Audit | undefined,
  info: RequestInfo,
  requestURI: string,
  { attributes, caller, user }: { readonly attributes: Attributes } & Partial<RequestCaller>,
): void {
  info.counted.attributes = attributes;
  if (audit === undefined) return;
  const { request, auditID, receivedAt } = info;
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
  if (trail !== undefined) info.record = createAuditRecord(trail);
}
