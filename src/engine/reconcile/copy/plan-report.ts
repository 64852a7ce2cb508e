import type { HostBody } from "../convert/to-host.ts";
import type { Note, Plan } from "../plan-types.ts";

/** Why a field or annotation does not cross. */
export const WHY_LEFT_OUT = "the API server refuses it on a Service of the copy's type";

/** Report of `forward`, as parts of a plan. */
export function reported(wanted: HostBody): Pick<Plan, "outcomes" | "references" | "notes"> {
  const refused = wanted.refusedAddresses.map(({ ip, reason }): Note => ({
    code: "ADDRESS_REFUSED",
    message: `Address "${ip}" was left out: ${reason}`,
  }));
  const leftOut = wanted.leftOut.map((place): Note => ({
    code: "FIELD_LEFT_OUT",
    message: `${place} was left out: ${WHY_LEFT_OUT}`,
  }));
  const failed = wanted.outcomes.flatMap((outcome) =>
    (outcome.failures ?? []).map(({ code, message, place }): Note => ({ code, message: `${place}: ${message}` })),
  );
  return { outcomes: wanted.outcomes, references: wanted.references, notes: [...refused, ...leftOut, ...failed] };
}

/** Why `forward` has no object to write. */
export function rejection(wanted: HostBody): Note[] {
  const notes = reported(wanted).notes;
  return notes.length > 0
    ? [...notes]
    : [{ code: wanted.rejectedAs ?? "EXPRESSION_RESULT", message: `The object is not written: ${wanted.rejected}` }];
}
