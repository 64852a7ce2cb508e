import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuditRecord } from "../types/audit-record.ts";
import type { Judge } from "../types/resource-definition.ts";
import type { UserInfo } from "../types/user-info.ts";

/** One request on its way through the handlers, no matter who makes it. */
export interface OpenExchange {
  readonly request: IncomingMessage;
  /** With headers that are written with its head, names and values in turn. */
  readonly response: ServerResponse & { readonly later: string[] };
  readonly method: string;
  /** The path below the base path; the whole path if it is not below the base path. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Adds a `Warning` header to the response. */
  readonly warn: (text: string) => void;
  /** Absent if the request is not audited. */
  readonly audit?: AuditRecord | undefined;
}

/** The body of a request as something that takes up room and time. */
export interface Body {
  /**
   * Counts bytes of it against the caller's share.
   *
   * @throws API_TOO_MANY_REQUESTS when that is used up.
   */
  readonly claim: (bytes: number) => void;
  /** The body is complete: waits until it may be processed. Undefined if that is now. */
  readonly begin: () => Promise<void> | undefined;
  /** Lets other requests proceed if the body is large; undefined if it is not. */
  readonly pause: () => Promise<void> | undefined;
}

/** A request of a known caller. */
export interface Exchange extends OpenExchange {
  readonly user: UserInfo;
  /** The owner of the request's credentials; the same as `user` unless impersonated. */
  readonly caller: UserInfo;
  /** Judges the request again. */
  readonly judge: Judge;
  readonly body: Body;
}
