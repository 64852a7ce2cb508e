import type { Infer, ListSchema } from "../../schema/schema.ts";
import { SYNCED_KINDS } from "../kinds/synced-kinds.ts";

/** `acceptedDrifts` of the settings and of test files: drifts that are known and intended. */
export const ACCEPTED_DRIFTS = {
  type: "list",
  default: [],
  maxItems: 1_000,
  description:
    "Patches that are known to drift, each with the reason. `validate --laws` does not warn about these patches, and the `roundTrip` law in test files accepts them. A patch that oscillates is never accepted, and an entry that no patch needs is reported.",
  items: {
    type: "object",
    description: "One accepted drift.",
    fields: {
      list: {
        type: "literals",
        values: SYNCED_KINDS.map(({ section }) => section),
        description: "Name of the patch list. If omitted, the entry applies to all lists.",
      },
      path: {
        type: "string",
        required: true,
        minLength: 1,
        maxLength: 4_096,
        description: "Path of the patch, in any equivalent notation.",
      },
      reason: {
        type: "string",
        required: true,
        minLength: 1,
        maxLength: 1_000,
        description: "Why the drift is harmless. Shown in reports.",
      },
    },
  },
} as const satisfies ListSchema;

/** An entry of {@link ACCEPTED_DRIFTS}. */
export type AcceptedDrift = Infer<typeof ACCEPTED_DRIFTS>[number];
