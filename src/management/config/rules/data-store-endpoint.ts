import { isIP } from "node:net";

/** Where audit lines are stored in addition to the file. */
export type DataStoreEndpoint =
  | { readonly kind: "sqlite"; readonly path: string }
  | {
      readonly kind: "mysql";
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly password: string;
      readonly database: string;
      /** Whether the connection is encrypted, and which certificates are accepted. */
      readonly tls: "off" | "verified" | "any";
    };

const MYSQL_PORT = 3_306;
const TLS: Readonly<Record<string, "off" | "verified" | "any">> = { false: "off", true: "verified", "skip-verify": "any" };
const HOST = "([A-Za-z0-9_][A-Za-z0-9._-]*|\\[[0-9A-Fa-f:.]+\\])(?::([0-9]{1,5}))?";
const REST = "\\/([A-Za-z0-9_$-]{1,64})(?:\\?tls=(true|false|skip-verify))?$";
const IN_BRACKETS = new RegExp(`^tcp\\(${HOST}\\)${REST}`);
const AS_URL = new RegExp(`^${HOST}${REST}`);

/**
 * Parses `audit.dataStoreEndpoint`. Returns undefined for a text in none of these formats:
 *
 * - `sqlite:PATH`
 * - `mysql://USER:PASSWORD@HOST:PORT/DATABASE`, with user and password percent-encoded
 * - `mysql://USER:PASSWORD@tcp(HOST:PORT)/DATABASE`, with user and password as they are
 *
 * A MySQL address may end with `?tls=true`, which requires a host name, or `?tls=skip-verify`.
 *
 * @example
 * dataStoreEndpoint("sqlite:///var/lib/audit.db"); // { kind: "sqlite", path: "/var/lib/audit.db" }
 */
export function dataStoreEndpoint(text: string): DataStoreEndpoint | undefined {
  if (text.startsWith("sqlite:")) return sqlite(text.slice("sqlite:".length));
  if (!text.startsWith("mysql://")) return undefined;
  const rest = text.slice("mysql://".length);
  const at = rest.lastIndexOf("@");
  const [place, credentials] = [rest.slice(at + 1), at === -1 ? "" : rest.slice(0, at)];
  const colon = credentials.indexOf(":");
  const [user, password] = colon === -1 ? [credentials, ""] : [credentials.slice(0, colon), credentials.slice(colon + 1)];
  const raw = IN_BRACKETS.exec(place);
  const found = raw ?? AS_URL.exec(place);
  if (found === null) return undefined;
  const [, host, port = String(MYSQL_PORT), database, tls = "false"] = found;
  const [name, secret] = raw === null ? [decoded(user), decoded(password)] : [user, password];
  if (name === undefined || name === "" || secret === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  const bare = host!.replace(/^\[|\]$/g, "");
  // The client compares a certificate only with names, not with IP addresses.
  if (TLS[tls] === "verified" && isIP(bare) !== 0) return undefined;
  return { kind: "mysql", user: name, password: secret, database: database!, tls: TLS[tls]!, host: bare, port: Number(port) };
}

function sqlite(text: string): DataStoreEndpoint | undefined {
  const path = text.replace(/^\/\/(?=\/)/, "");
  const isPath = !path.startsWith("//") && !/[?#\p{Cc}]/u.test(path) && /[^/\s]$/.test(path) && path.length <= 4_096;
  // For SQLite, ":memory:" and "file:" do not mean files with these names, and a folder is not a file.
  const isFile = isPath && !/^(?::|file:)|(?:^|\/)\.{1,2}$/i.test(path);
  return isFile ? { kind: "sqlite", path } : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
