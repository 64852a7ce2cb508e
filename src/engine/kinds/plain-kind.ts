import type { SyncedKind } from "../reconcile/rules/rules.ts";

/** What holds for a kind that belongs to the Service of its own name, and that only users write in the tenant cluster. */
export const PLAIN_KIND: Pick<SyncedKind, "ownLabelKeys" | "ownLabels" | "serviceOf" | "writerOf"> = {
  ownLabelKeys: [],
  ownLabels: () => ({}),
  serviceOf: (key) => key,
  writerOf: () => undefined,
};
