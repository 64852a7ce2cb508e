import type { EngineError } from "../../base/errors.ts";
import { unavailable, statusOf } from "../../apiserver/types/status.ts";

/** What a stranger is told of a failure. Why a provider cannot be used names files and errors of ours, which the log alone has. */
export function told(error: EngineError): EngineError {
  const failed = (statusOf(error)?.code ?? 500) >= 500;
  return failed ? unavailable("sign-in does not work at the moment; the server's log says why") : error;
}
