import { compileRegexp } from "../../config/regexp/regexp.ts";

/** Longest group name that is compared, in characters. Longer ones are left out. */
const GROUP_LENGTH_MAX = 1_024;

/**
 * The groups in which at least one of the expressions, of RE2's syntax, finds something; all of them when there are no expressions.
 * An expression is not bound to the beginning or the end of a name unless it says so. One that is none, which the configuration
 * refuses, finds nothing. Source: specification 2, groupsFilters.
 *
 * @example
 * filterGroups(["team-a", "chess"], ["^team-"]); // ["team-a"]
 */
export function filterGroups(groups: readonly string[], expressions: readonly string[] = []): readonly string[] {
  if (expressions.length === 0) return groups;
  const compiled = expressions.map((expression) => compileRegexp(expression));
  return groups.filter((group) => group.length <= GROUP_LENGTH_MAX && compiled.some((result) => result.ok && result.matches(group)));
}
