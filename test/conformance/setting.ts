import type { Code } from "../../src/base/codes.ts";
import { isEngineError } from "../../src/base/errors.ts";
import type { ClusterClient } from "../../src/kube/object/cluster-client.ts";
import type { Objects } from "./sandbox-namespace.ts";

/** What the cases of a suite share. Available once the tests run. */
export interface Setting {
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly objects: Objects;
}

/** The code of the error that a call fails with; "none" when it does not fail. */
export async function codeOf(call: Promise<unknown>): Promise<Code | "none"> {
  try {
    await call;
    return "none";
  } catch (error) {
    if (isEngineError(error)) return error.code;
    throw error;
  }
}
