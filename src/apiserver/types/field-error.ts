import type { StatusCause } from "../../kube/object/status.ts";

/** Error in one field of an object; its message is complete. */
export interface FieldError extends StatusCause {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

/** The field has no value but needs one. */
export function required(field: string, detail = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: detail === "" ? "Required value" : `Required value: ${detail}` };
}

/** The value is not allowed; `detail` describes the allowed values. */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${shown(value)}: ${detail}` };
}

/** The value is not in the list of supported values. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((text) => JSON.stringify(text)).join(", ");
  return { reason: "FieldValueNotSupported", field, message: `Unsupported value: ${shown(value)}: supported values: ${list}` };
}

/** The value occurs twice, but may occur only once. */
export function duplicate(field: string, value: unknown): FieldError {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${shown(value)}` };
}

/** The field must not be set, or cannot be set now. */
export function forbidden(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${detail}` };
}

/** The text or data is longer than `bytesMax`. */
export function tooLong(field: string, bytesMax: number): FieldError {
  return { reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${bytesMax} bytes` };
}

/** Detail of the error for a field that updates must not change. */
export const IMMUTABLE = "field is immutable";

function shown(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}
