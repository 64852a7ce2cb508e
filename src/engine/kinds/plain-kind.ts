import type { SyncedKind } from "../reconcile/rules/rules.ts";

/** Defaults for a kind that belongs to the Service of the same name, and that only users write in the tenant cluster. */
export const PLAIN_KIND: Pick<SyncedKind, "ownLabelKeys" | "ownLabels" | "serviceOf" | "writerOf"> = {
  ownLabelKeys: [],
  ownLabels: () => ({}),
  serviceOf: (key) => key,
  writerOf: () => undefined,
};
