import { forbiddenPath } from "../../../apiserver/types/status.ts";
import { tooMuch, type Identity } from "../identity.ts";
import type { SignInLimits } from "../limits/limits.ts";
import type { ProviderSaid } from "../providers/provider-client.ts";
import type { Provider } from "../rules/admit.ts";
import { filterGroups } from "../rules/groups-filters.ts";
import { placeOf } from "../rules/place.ts";
import type { SignInSettings } from "../settings.ts";

/**
 * Returns the identity in a provider's claims, in the form that the platform uses: with its origin, the groups that match the filters, and
 * the groups that make the user an administrator.
 *
 * @throws API_FORBIDDEN when the user may not sign in, or the provider returns too much.
 */
export function takenIdentity(
  provider: Provider,
  { decision }: ProviderSaid,
  { settings, limits }: { readonly settings: SignInSettings; readonly limits: SignInLimits },
): Identity {
  if (!decision.admitted) throw forbiddenPath(decision.reason);
  const { identity } = decision;
  const excess = tooMuch(identity, limits);
  if (excess !== undefined) throw forbiddenPath(excess);
  const administrators = administratorsIn(provider, identity, settings);
  const { groupIds: _ids, ...kept } = identity;
  return {
    ...kept,
    place: placeOf(provider),
    groups: filterGroups(identity.groups, settings.groupsFilters),
    ...(administrators.length > 0 && { administrators }),
  };
}

/**
 * Returns the user's groups that `administrators` contains: before filters, and without the prefix. If a provider can have several groups
 * with the same name, groups are compared by id, because any user could create another one.
 */
function administratorsIn(
  { connector, settings: section }: Provider,
  { groups, groupIds }: Identity,
  { administrators = [] }: SignInSettings,
): readonly string[] {
  const { groupsPrefix = "" } = section as { readonly groupsPrefix?: string };
  const reported = new Set(groupIds === undefined ? groups : groupIds.map((id) => id.toLowerCase()));
  const reportedAs = (group: string) => (groupIds === undefined ? `${groupsPrefix}${group}` : group.toLowerCase());
  return administrators.flatMap((one) => (one.connector === connector && reported.has(reportedAs(one.group)) ? [one.group] : []));
}
