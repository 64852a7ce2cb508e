/**
 * The answer of a refused call.
 */
import { isEngineError } from "../../../src/base/errors.ts";
import type { Status } from "../../../src/kube/object/status.ts";

/** The Status that a call answers. */
export function refusal(call: () => unknown): Status {
  try {
    call();
  } catch (error) {
    if (isEngineError(error)) return error.details["status"] as Status;
    throw error;
  }
  throw new Error("The call was accepted");
}
