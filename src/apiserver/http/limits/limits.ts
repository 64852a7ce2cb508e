import type { InFlightLimits } from "./in-flight.ts";

/** Limits beyond which a server refuses requests. */
export interface ServerLimits extends InFlightLimits {
  /** Maximum size of a request body. Default 3 MiB. */
  readonly bodyBytes?: number;
  /** Maximum number of fields and items in a request body; each costs the server time. Default 1,000,000. */
  readonly bodyValues?: number;
  /** Maximum number of open connections. Beyond it, the address with the most connections loses an idle one. Default 4,000. */
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
/** Time for which an idle connection stays open, in milliseconds. */
export const KEEP_ALIVE_MS = 180_000;
/** Interval of checking for requests that take too long to arrive, in milliseconds. */
export const CHECK_MS = 2_000;
