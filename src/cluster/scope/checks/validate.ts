import { utf8Size } from "../../../base/digest.ts";
import { invalid, tooLong, type FieldError } from "../../../apiserver/types/field-error.ts";
import { WILDCARD } from "../patterns/pattern.ts";
import { overlaps } from "../patterns/resource-pattern.ts";
import type { AccessScope, ScopeResources } from "../types.ts";

/** Longest scope of a key that is accepted, in bytes of its JSON: every request with the key reads it. Tokens have a limit of their own. */
export const SCOPE_BYTES_MAX = 65_536;

/**
 * Like {@link validateScope}, but also refuses a scope that is longer than {@link SCOPE_BYTES_MAX}, for keys whose scope is new or changed:
 * earlier versions may have stored longer scopes.
 */
export function validateNewScope(scope: AccessScope, field: string): FieldError[] {
  return utf8Size(JSON.stringify(scope)) > SCOPE_BYTES_MAX ? [tooLong(field, SCOPE_BYTES_MAX)] : validateScope(scope, field);
}

/**
 * Validates a scope. Refuses object names where no resources are listed, resources that overlap because of a wildcard, and paths with a
 * wildcard that is not the whole last segment. Accepts everything else; {@link scopeWarnings} reports entries without effect.
 *
 * @param field - Where the scope is, for example `spec.scope`.
 * @example
 * validateScope({ rules: [{ nonResourceURLs: ["/a*"] }] }, "spec.scope").map(({ field }) => field); // ["spec.scope.rules[0].nonResourceURLs[0]"]
 */
export function validateScope(scope: AccessScope, field: string): FieldError[] {
  return (scope.rules ?? []).flatMap(({ resources = [], nonResourceURLs = [] }, index) => {
    const rule = `${field}.rules[${index}]`;
    return [
      ...resources.flatMap((item, at) => validateResources(item, `${rule}.resources[${at}]`)),
      ...nonResourceURLs.flatMap((path, at) => validatePath(path, `${rule}.nonResourceURLs[${at}]`)),
    ];
  });
}

function validateResources({ resources = [], resourceNames = [] }: ScopeResources, field: string): FieldError[] {
  const overlapping = overlaps(resources).map(({ index, entry, earlier }) =>
    invalid(`${field}.resources[${index}]`, entry, `if '${earlier}' is present, must not specify ${entry}`),
  );
  if (resourceNames.length === 0 || resources.length > 0) return overlapping;
  return [invalid(`${field}.resourceNames`, resourceNames, "using resourceNames requires at least one resource")];
}

function validatePath(path: string, field: string): FieldError[] {
  const steps = path.split("/");
  const wrong = steps.some((step, at) => step.includes(WILDCARD) && (step !== WILDCARD || at !== steps.length - 1));
  return wrong ? [invalid(field, path, "'*' is only allowed as the full, final step of the path")] : [];
}
