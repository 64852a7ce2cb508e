import type { InFlightLimits } from "./in-flight.ts";

/** Limits beyond which a server refuses requests. */
export interface ServerLimits extends InFlightLimits {
  /** Largest request body. Default 3 MiB. */
  readonly bodyBytes?: number;
  /** Fields and items that a request body may have; each costs the server time. Default 1,000,000. */
  readonly bodyValues?: number;
  /** Connections that may be open; the address that has most gives up idle ones first. Default 4,000. */
  readonly connections?: number;
  /** Time limit for the headers of a request, in milliseconds. Default 10 s. */
  readonly headersMs?: number;
  /** Time limit for a whole request, its body included, in milliseconds. Default 60 s. */
  readonly requestMs?: number;
  /** Time limit for reading 64 KiB of a longer response or of a watch, in milliseconds; then the connection ends. Default 30 s. */
  readonly readMs?: number;
}

/** Default of {@link ServerLimits.bodyBytes}. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024;
/** Default of {@link ServerLimits.bodyValues}. */
export const BODY_VALUES_MAX = 1_000_000;
/** Default of {@link ServerLimits.connections}. */
export const CONNECTIONS_MAX = 4_000;
/** Default of {@link ServerLimits.headersMs}. */
export const HEADERS_MS = 10_000;
/** Default of {@link ServerLimits.requestMs}. */
export const REQUEST_MS = 60_000;
/** Default of {@link ServerLimits.readMs}. */
export const READ_MS = 30_000;
/** How long an idle connection stays open, in milliseconds. */
export const KEEP_ALIVE_MS = 180_000;
/** Interval of checking for requests that take too long to arrive, in milliseconds. */
export const CHECK_MS = 2_000;
