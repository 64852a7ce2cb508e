import type { Metrics } from "../../../base/metrics.ts";
import { statusOf } from "../../../apiserver/types/status.ts";

/** Counts the outcomes of sign-ins. */
export interface SignInOutcomes {
  /** Counts a sign-in that created a key. */
  succeeded(connector: string): void;
  /** Counts a sign-in that ended with an error. */
  failed(connector: string, error: unknown): void;
  /** Runs a step of a sign-in; counts its failure, and rethrows it. */
  during<T>(connector: string, step: () => Promise<T>): Promise<T>;
}

/** Counts sign-ins by connector and outcome. The labels are the connectors of the configuration, whose names the operator chooses. */
export function createSignInOutcomes(metrics: Metrics): SignInOutcomes {
  const count = (connector: string, outcome: string) => metrics.count("management_sign_ins_total", { connector, outcome });
  const failed = (connector: string, error: unknown) => count(connector, outcomeOf(error));
  return {
    succeeded: (connector) => count(connector, "success"),
    failed,
    async during(connector, step) {
      try {
        return await step();
      } catch (error) {
        failed(connector, error);
        throw error;
      }
    },
  };
}

/** `failed`: a provider failed, or there was an internal error. `invalid`: the request is not that of a sign-in. */
function outcomeOf(error: unknown): "refused" | "limited" | "failed" | "invalid" {
  const code = statusOf(error)?.code ?? 500;
  if (code === 429) return "limited";
  if (code === 401 || code === 403) return "refused";
  return code >= 500 ? "failed" : "invalid";
}
