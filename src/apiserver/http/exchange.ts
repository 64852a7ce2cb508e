import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuditRecord } from "../types/audit-record.ts";
import type { Judge } from "../types/resource-definition.ts";
import type { UserInfo } from "../types/user-info.ts";

/** A request that the handlers process, whether or not its caller is known. */
export interface OpenExchange {
  readonly request: IncomingMessage;
  /** The response. `later` contains alternating names and values of headers, which are written with the status line. */
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

/** The use of memory and time by the body of a request. */
export interface Body {
  /**
   * Counts bytes of the body against the caller's share.
   *
   * @throws API_TOO_MANY_REQUESTS when the share is used up.
   */
  readonly claim: (bytes: number) => void;
  /** Called when the body is complete: waits until it may be processed. Returns undefined if it may be processed now. */
  readonly begin: () => Promise<void> | undefined;
  /** Lets other requests proceed if the body is large. Returns undefined if it is not. */
  readonly pause: () => Promise<void> | undefined;
  /** Called when the body has been processed, before the response is sent: lets the next large body begin. The bytes remain counted. */
  readonly done: () => void;
}

/** A request of a known caller. */
export interface Exchange extends OpenExchange {
  readonly user: UserInfo;
  /** The owner of the request's credentials; the same as `user` unless impersonated. */
  readonly caller: UserInfo;
  /** Authorizes the request again. */
  readonly judge: Judge;
  readonly body: Body;
}
