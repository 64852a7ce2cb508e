import { chosenBy, withoutCase } from "./claims.ts";
import { admitted, refused, type SignInDecision, type Configured } from "../identity.ts";
import type { DirectoryProviderBSettings } from "../settings.ts";

/** The directory's data about a user. */
export interface DirectoryProviderBProfile {
  readonly id: string;
  /** The name to sign in with. */
  readonly principalName: string;
  readonly email?: string;
  /** The origin of the account. */
  readonly account:
    { readonly personal: true } | { readonly personal: false; readonly tenantId: string; readonly tenantNames?: readonly string[] };
  /** `id` is the directory's own id of a group. Settings can contain ids, because names are not unique. */
  readonly groups: readonly { readonly name: string; readonly id?: string; readonly security: boolean }[];
}

/**
 * Admits users of a directory with tenants. The account must be of the kind or tenant that is set. If groups are set, the user must be in
 * at least one, and a whitelist drops all others. If the settings request only security groups, other groups are ignored. Source:
 * specification 2, directoryProviderB.
 *
 * @example
 * const account = { personal: false, tenantId: "7b3c…" } as const;
 * const groups = [{ name: "ops", security: true }, { name: "chess", security: false }];
 * const profile = { id: "1", principalName: "jane@acme.example", account, groups };
 * admitDirectoryProviderB({ connector: "directoryProviderB", settings: { onlySecurityGroups: true } }, profile); // groups: ["ops"]
 */
export function admitDirectoryProviderB(
  { connector, settings }: Configured<DirectoryProviderBSettings>,
  profile: DirectoryProviderBProfile,
): SignInDecision {
  const { tenant = "common", onlySecurityGroups = false, useGroupsAsWhitelist = false } = settings;
  if (!isOfTenant(profile.account, tenant)) return refused("accounts of this type or from this tenant are not allowed to sign in");
  const counted = profile.groups.filter(({ security }) => security || !onlySecurityGroups);
  const [ids, names] = [(settings.groups ?? []).filter(isId), (settings.groups ?? []).filter((group) => !isId(group))];
  const [isChosenId, isChosenName] = [chosenBy(ids, withoutCase), chosenBy(names)];
  const chosen = counted.filter(({ name, id }) => isChosenName(name) || (id !== undefined && isChosenId(id)));
  if (!isEmpty(settings.groups) && chosen.length === 0) return refused("none of your groups is allowed to sign in");
  const kept = useGroupsAsWhitelist && !isEmpty(settings.groups) ? chosen : counted;
  return admitted({
    userId: profile.id,
    username: profile.principalName,
    preferredUsername: profile.principalName,
    email: profile.email,
    emailVerified: undefined,
    groups: kept.map(({ name }) => name),
    groupIds: kept.flatMap(({ id }) => id ?? []),
    extraClaims: undefined,
    connector,
    connectorData: undefined,
  });
}

function isEmpty(list: readonly string[] | undefined): boolean {
  return list === undefined || list.length === 0;
}

/** Reports whether a text of the settings is the id of a group. Ids are never compared with names. */
function isId(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

function isOfTenant(account: DirectoryProviderBProfile["account"], tenant: string): boolean {
  if (tenant === "common") return true;
  if (tenant === "consumers" || account.personal) return tenant === "consumers" && account.personal;
  if (tenant === "organizations") return true;
  return [account.tenantId, ...(account.tenantNames ?? [])].some((name) => name.toLowerCase() === tenant.toLowerCase());
}
