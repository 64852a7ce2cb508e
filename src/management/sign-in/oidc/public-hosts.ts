/**
 * Addresses of public services, which no setting contains.
 *
 * @module
 */

/** The public service of sourceHostA, and its API. */
export const SOURCE_HOST_A_HOSTS = { site: "https://github.com", api: "https://api.github.com" } as const;

/** The domain of enterprise accounts with their own host. The API of such a host is at `api.HOST`. */
export const SOURCE_HOST_A_CLOUD = ".ghe.com";

/** The issuer of directoryProviderA, its directory, and the only endpoint that gets the assertions of service accounts. */
export const DIRECTORY_A_HOSTS = {
  issuer: "https://accounts.google.com",
  directory: "https://admin.googleapis.com/admin/directory/v1",
  token: "https://oauth2.googleapis.com/token",
  groupScope: "https://www.googleapis.com/auth/admin.directory.group.readonly",
} as const;

/** The start of directoryProviderB's issuer URL, to which the provider's tenant is appended, and the URL of its directory. */
export const DIRECTORY_B_HOSTS = { login: "https://login.microsoftonline.com", graph: "https://graph.microsoft.com/v1.0" } as const;
