/**
 * Reads which secret of a vault a SharedSecret copies. Pure.
 *
 * @module
 */
import type { KubeObject, StringMap } from "../../kube/object/types.ts";

/** Annotations that name a secret of the vault. Only administrators may set them. */
export const VAULT_ANNOTATIONS = {
  version: "management.platform/vault-version",
  mount: "management.platform/vault-mount",
  path: "management.platform/vault-path",
} as const;

/** A secret of the vault. */
export interface VaultSource {
  readonly version: "kv1" | "kv2";
  readonly mount: string;
  readonly path: string;
  /** Path of the request, encoded. */
  readonly requestPath: string;
}

/** Longest mount and path together, in UTF-16 units. */
const LENGTH_MAX = 512;
/** Paths that the vault reserves. */
const OWN_MOUNTS: readonly string[] = ["sys", "auth", "identity", "cubbyhole"];
/** Characters that have a meaning in addresses, or are invisible. */
const REFUSED = /[?#%\\\p{C}]/u;

/**
 * Returns the secret that the annotations name, undefined if there are none, or a message if they are invalid.
 *
 * @example
 * vaultSource({ "management.platform/vault-version": "kv2", "management.platform/vault-mount": "secret", "management.platform/vault-path": "team/db" });
 * // { version: "kv2", mount: "secret", path: "team/db", requestPath: "/v1/secret/data/team/db" }
 */
export function vaultSource(annotations: StringMap | undefined): VaultSource | string | undefined {
  const [version, mount, path] = Object.values(VAULT_ANNOTATIONS).map((name) => annotations?.[name]);
  if (version === undefined && mount === undefined && path === undefined) return undefined;
  const missing = Object.values(VAULT_ANNOTATIONS).filter((name) => annotations?.[name] === undefined);
  if (version === undefined || mount === undefined || path === undefined) return `missing annotations: ${missing.join(", ")}`;
  if (version !== "kv1" && version !== "kv2") return `${VAULT_ANNOTATIONS.version} must be kv1 or kv2`;
  if (mount.length + path.length > LENGTH_MAX) return `mount and path can have at most ${LENGTH_MAX} characters in total`;
  for (const [name, text] of [[VAULT_ANNOTATIONS.mount, mount] as const, [VAULT_ANNOTATIONS.path, path] as const]) {
    if (REFUSED.test(text)) return `${name} has a character that a path in the vault cannot have`;
    if (text.split("/").some((part) => part === "" || part.trim() !== part || /^\.+$/.test(part)))
      return `${name} must be names separated by single slashes, without . and ..`;
  }
  if (OWN_MOUNTS.includes(mount.split("/")[0]!)) return `${VAULT_ANNOTATIONS.mount} must not name an internal mount of the vault`;
  const encoded = (text: string) => text.split("/").map(encodeURIComponent).join("/");
  const inside = version === "kv2" ? "/data/" : "/";
  return { version, mount, path, requestPath: `/v1/${encoded(mount)}${inside}${encoded(path)}` };
}

/** Reports whether a write changes which secret is copied. Removing the annotations is not a change: the copied data stays. */
export function changesVaultSource(object: KubeObject, old: KubeObject | undefined): boolean {
  if (object.metadata.annotations === undefined) return false;
  return Object.values(VAULT_ANNOTATIONS).some((name) => {
    const value = object.metadata.annotations?.[name];
    return value !== undefined && value !== old?.metadata.annotations?.[name];
  });
}
