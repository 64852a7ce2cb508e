/**
 * Admissions in one value, as tables compare them.
 */
import type { SignInDecision, Identity } from "../../../src/management/sign-in/identity.ts";

/** The identity of an admission, or why there is none. */
export function outcome(admission: SignInDecision): Identity | string {
  return admission.admitted ? admission.identity : admission.reason;
}

/** The groups of an admission, or "refused". */
export function groupsOrRefused(admission: SignInDecision): readonly string[] | "refused" {
  return admission.admitted ? admission.identity.groups : "refused";
}
