import { isIP } from "node:net";
import type { IncomingMessage } from "node:http";
import type { AuditRecord } from "../types/audit-record.ts";
import type { Attributes } from "./authorization.ts";
import type { UserInfo } from "../types/user-info.ts";

/** The facts that are known about a request before it is processed. */
export interface AuditFacts {
  /** The id of the request; also sent as the header `Audit-Id` of the response. */
  readonly auditID: string;
  /** The owner of the request's credentials; absent when these are missing or refused. */
  readonly user?: UserInfo;
  /** The impersonated user, if any. */
  readonly impersonatedUser?: UserInfo;
  readonly attributes: Attributes;
  readonly method: string;
  /** The URL as received, with base path and query. Outside of the base path, the values of the query are hidden. */
  readonly requestURI: string;
  /** Addresses reported by proxies first, the peer of the connection last. */
  readonly sourceIPs: readonly string[];
  /** "" when the client does not send it. */
  readonly userAgent: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
}

/** Receives the progress of one request. No method may throw. Either `complete` or `panic` is called last, once. */
export interface AuditTrail {
  /**
   * The parsed but unchecked body; a patch is not applied. It contains any secrets that the author sent.
   */
  readonly requestObject?: (body: unknown) => void;
  /** Adds a fact that only the handler of the request knows, such as the user who has signed in. */
  readonly annotate?: (name: string, value: string) => void;
  /** The response to a watch has begun. */
  readonly responseStarted?: (code: number) => void;
  /**
   * The response is sent, or the watch has ended.
   *
   * @param responseObject Returns the sent object, without values that only the author may see; undefined if no object was sent.
   */
  readonly complete: (code: number, responseObject?: () => unknown) => void;
  /** The server failed while it processed the request. Default: `complete` with 500. */
  readonly panic?: (error: unknown) => void;
}

/** Decides for each request whether its outcome is recorded. */
export type Audit = (facts: AuditFacts) => AuditTrail | undefined;

/** Creates the record of a trail, and ensures that the trail ends only once. */
export function createAuditRecord(trail: AuditTrail): AuditRecord {
  let over = false;
  let responseObject: (() => unknown) | undefined;
  const end = (how: () => void) => {
    if (over) return;
    over = true;
    how();
  };
  return {
    requestObject: (body) => trail.requestObject?.(body),
    annotate: (name, value) => trail.annotate?.(name, value),
    responseStarted: (code) => trail.responseStarted?.(code),
    responseObject: (make) => void (responseObject = make),
    complete: (code) => end(() => trail.complete(code, responseObject)),
    panic: (error) => end(() => (trail.panic === undefined ? trail.complete(500, responseObject) : trail.panic(error))),
  };
}

/** Replaces the values of parameters. */
const HIDDEN = "********";

/**
 * Replaces every value in the query of a URL with asterisks, because a value may be a sign-in code.
 *
 * @example
 * withoutValues("/auth/oidc/callback?code=abc&state=x"); // "/auth/oidc/callback?code=********&state=********"
 */
export function withoutValues(uri: string): string {
  const at = uri.indexOf("?");
  if (at < 0) return uri;
  const parts = uri.slice(at + 1).split("&");
  const shown = parts.map((part) => (part.includes("=") ? `${part.slice(0, part.indexOf("="))}=${HIDDEN}` : HIDDEN));
  return `${uri.slice(0, at)}?${shown.join("&")}`;
}

/**
 * Returns the addresses that a request passed through, beginning with the client. Source: `SourceIPs` of the API machinery.
 *
 * @example
 * sourceIPsOf(request); // ["203.0.113.7", "127.0.0.1"]
 */
export function sourceIPsOf({ headers, socket }: Pick<IncomingMessage, "headers" | "socket">): readonly string[] {
  const forwarded = [headers["x-forwarded-for"] ?? "", headers["x-real-ip"] ?? ""].flat().join(",").split(",");
  const given = forwarded.map((text) => text.trim()).filter((text) => isIP(text) !== 0);
  return [...new Set([...given, ...(socket.remoteAddress === undefined ? [] : [socket.remoteAddress])])];
}
