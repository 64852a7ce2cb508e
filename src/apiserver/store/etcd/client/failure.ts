import { EngineError, isEngineError, messageOf } from "../../../../base/errors.ts";
import { isRecord } from "../../../../base/json.ts";
import { insufficientStorage, storeRefuses, timedOut, tooLarge, unavailable } from "../../../types/status.ts";

/**
 * gRPC codes, which etcd's gateway passes on. Source: `google.golang.org/grpc/codes`.
 */
const GRPC = {
  invalid: 3,
  exhausted: 8,
  precondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** Codes that mean that the request had no effect. After other codes, this is unknown. */
const NOT_CARRIED_OUT = new Set<number>([
  GRPC.invalid,
  5,
  7,
  ...[GRPC.exhausted, GRPC.precondition, GRPC.outOfRange, GRPC.unimplemented],
  GRPC.unauthenticated,
]);

/** Properties of an {@link EtcdFailure}. */
export interface EtcdFailureOptions {
  /** The gRPC code; absent when etcd did not respond. */
  readonly grpc?: number;
  /** True if the request may have taken effect nevertheless, or may do so later. */
  readonly mayHaveHappened: boolean;
  readonly cause?: unknown;
}

/** The failure of a request: no response, or a refusal. Internal to the store; {@link storeError} converts it to the error for callers. */
export class EtcdFailure extends Error {
  override readonly name = "EtcdFailure";
  readonly grpc: number | undefined;
  readonly mayHaveHappened: boolean;

  constructor(message: string, { grpc, mayHaveHappened, cause }: EtcdFailureOptions) {
    super(message, { cause });
    this.grpc = grpc;
    this.mayHaveHappened = mayHaveHappened;
  }

  /** True if etcd has compacted the requested events or state. */
  get compacted(): boolean {
    return this.grpc === GRPC.outOfRange && this.message.includes("compacted");
  }

  /** True if the requested state does not exist yet. */
  get future(): boolean {
    return this.grpc === GRPC.outOfRange && this.message.includes("future revision");
  }

  /** True if the response is larger than allowed. */
  get tooLarge(): boolean {
    return this.grpc === GRPC.exhausted && this.message.startsWith(LARGE_ANSWER);
  }

  /** True if etcd no longer accepts the token, because it has expired or users have changed. */
  get tokenRefused(): boolean {
    return this.grpc === GRPC.unauthenticated || /revision of auth store is old|invalid auth token/.test(this.message);
  }

  /** True if another attempt, perhaps at another endpoint, may succeed. */
  get passing(): boolean {
    const busy = this.grpc === GRPC.exhausted && this.message.includes("too many requests");
    return this.grpc === undefined || busy || !NOT_CARRIED_OUT.has(this.grpc);
  }
}

/** The failure that a response reports: `{ error, message, code }`, or `{ error: { message, grpc_code } }` in a stream. */
export function answeredFailure(body: unknown, httpStatus: number): EtcdFailure {
  const failure = isRecord(body) && isRecord(body["error"]) ? body["error"] : body;
  if (!isRecord(failure)) return foreignAnswer(`HTTP status ${httpStatus}`);
  const { message, code, grpc_code: streamCode = code } = failure;
  if (typeof streamCode !== "number") return foreignAnswer(`HTTP status ${httpStatus}`);
  return new EtcdFailure(String(message), { grpc: streamCode, mayHaveHappened: !NOT_CARRIED_OUT.has(streamCode) });
}

/** The message of gRPC clients. */
const LARGE_ANSWER = "received message larger than max";

/** The failure for a response that was aborted because it is larger than `bytesMax`. */
export function largeAnswer(bytesMax: number): EtcdFailure {
  return new EtcdFailure(`${LARGE_ANSWER} (${bytesMax} bytes)`, { grpc: GRPC.exhausted, mayHaveHappened: false });
}

/** The failure for a response that etcd's gateway never sends, and that may come from a proxy. */
export function foreignAnswer(what: string): EtcdFailure {
  return new EtcdFailure(`the response is not from etcd: ${what}`, { mayHaveHappened: true });
}

/** Converts a failure whose retries have all failed to the error for callers. Other errors are returned unchanged. */
export function storeError(error: unknown): unknown {
  if (!(error instanceof EtcdFailure)) return error;
  if (error.passing) return unavailable(`etcd cannot be reached: ${error.message}`);
  if (/request is too large|message larger than max/.test(error.message)) {
    return tooLarge(`Request entity too large: the object does not fit into a request to etcd (${error.message})`);
  }
  return refused(error);
}

/** The error for a write whose outcome is unknown. */
export function unknownOutcome(error: unknown): EngineError {
  return timedOut(`etcd did not confirm the write in time; the write may or may not have been carried out: ${messageOf(error)}`);
}

/** The error for a store that cannot be opened. */
export function openError(error: unknown): unknown {
  const hint = "Check the addresses and the certificates, and make sure that etcd is running";
  // The usual hint for this code is meant for clients of the API server.
  if (isEngineError(error, "API_UNAVAILABLE")) return new EngineError(error.code, error.message, { cause: error, details: { hint } });
  if (!(error instanceof EtcdFailure) || !error.passing) return storeError(error);
  return new EngineError("STORE_FAILED", `Cannot reach etcd: ${error.message}`, { cause: error, details: { hint } });
}

/** Message and hint of an error, in one line. */
export function withHint(error: unknown): string {
  const hint = isEngineError(error) ? error.details["hint"] : undefined;
  return typeof hint === "string" ? `${messageOf(error)}. ${hint}` : messageOf(error);
}

/** The error for data in etcd that cannot be used. */
export function unusable(reason: string, { hint, cause }: { readonly hint: string; readonly cause?: unknown }): EngineError {
  return new EngineError("STORE_FAILED", `Cannot use the data in etcd: ${reason}`, { cause, details: { reason, hint } });
}

const HINTS: readonly (readonly [RegExp, string])[] = [
  [/space exceeded/, "Compact and defragment etcd, and then disarm the alarm, as the etcd documentation on maintenance describes"],
  [/authentication is not enabled/, "Enable authentication in etcd, or omit the user and password"],
  [/authentication failed/, "Check the user and the password"],
  [/user name is empty|permission denied/, "Specify a user whose role allows reading and writing the prefix"],
  [/Not Found/, "Use etcd 3.4 or later, and do not disable its --enable-grpc-gateway option"],
];

function refused(error: EtcdFailure): EngineError {
  if (/database space exceeded/.test(error.message)) return alarmRaised("NOSPACE", error);
  const hint = HINTS.find(([pattern]) => pattern.test(error.message))?.[1] ?? "Check etcd's own log";
  const { status } = storeRefuses(`etcd refused the request: ${error.message}. ${hint}`).details;
  return new EngineError("STORE_FAILED", `etcd refused the request: ${error.message}`, { cause: error, details: { hint, status } });
}

/** The error for writes that etcd does not accept because of an alarm, such as NOSPACE. */
export function alarmRaised(alarm: string, cause?: unknown): EngineError {
  const full = alarm === "NOSPACE";
  const reason = full ? "etcd has no space left (alarm NOSPACE)" : `etcd has the alarm ${alarm}`;
  const hint = full
    ? "Free space with etcdctl compact and etcdctl defrag, or start etcd with a larger --quota-backend-bytes; then run etcdctl alarm disarm"
    : "Check etcd's own log, and see etcdctl alarm list";
  const message = `${reason}, so nothing can be stored. ${hint}`;
  const { status } = (full ? insufficientStorage(message) : storeRefuses(message)).details;
  return new EngineError("STORE_FAILED", reason, { cause, details: { hint, reason, status } });
}
