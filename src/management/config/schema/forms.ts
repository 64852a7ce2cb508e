/**
 * Formats of texts in the configuration: a meaningless text is refused at its position. An empty text counts as absent. All
 * patterns run in linear time.
 *
 * @module
 */
import type { ListSchema, StringSchema } from "../../../schema/schema.ts";

/** Longest address, in UTF-16 units, as browsers and proxies accept it. */
const URL_LENGTH_MAX = 2_048;
/** Longest path of a file, as in Linux. */
const PATH_LENGTH_MAX = 4_096;
/** Longest text of one line. */
const LINE_LENGTH_MAX = 1_024;
/** Longest HTML that is shown at sign-in. */
const HTML_LENGTH_MAX = 65_536;

const NAME = "[\\p{L}\\p{N}_](?:[\\p{L}\\p{N}._\\-]*[\\p{L}\\p{N}_])?\\.?";
const PORT = "(?::(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4}))?";
const SERVER = `(?:${NAME}|\\[[0-9A-Fa-f:.]{2,45}\\])${PORT}`;
const USER = "(?:[^\\s/?#@]*@)*";
const REST = '(?:[/?#][^\\s"<>\\\\^`{|}]*)?';
const WEB = `https?://${USER}${SERVER}${REST}`;
const OWN_PATH = '/(?:[^\\s/"<>\\\\^`{|}][^\\s"<>\\\\^`{|}]*)?';
const IMAGE = "data:image/[a-z0-9.+\\-]+[;,][^\\s]*";
const LOOPBACK = `(?:localhost|127(?:\\.[0-9]{1,3}){3}|\\[::1\\])${PORT}`;
const COLOUR =
  "#(?:[0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})|[A-Za-z]{3,30}|(?:rgb|hsl|hwb|lab|lch|oklab|oklch)a?\\([0-9.,%/ a-z\\-]{1,80}\\)";
/** Lower-case letters, digits, `-` and `.`. */
const SUBDOMAIN = "[a-z0-9](?:[a-z0-9.\\-]*[a-z0-9])?";

interface Form {
  readonly pattern: string;
  readonly patternHint: string;
  readonly maxLength: number;
}

function form(pattern: string, patternHint: string, maxLength: number): Form {
  return { pattern: `^(?:${pattern})?$`, patternHint, maxLength };
}

const FORMS = {
  line: form("[^\\p{Cc}\\u2028\\u2029]*", "text on one line", LINE_LENGTH_MAX),
  word: form("[^\\s\\p{Cc}]*", "text without spaces", LINE_LENGTH_MAX),
  html: form("[^\\0]*", "HTML", HTML_LENGTH_MAX),
  web: form(WEB, "an address such as https://example.com", URL_LENGTH_MAX),
  page: form(WEB, "a URL that begins with https:// or http://", URL_LENGTH_MAX),
  secureWeb: form(
    `https://${SERVER}${REST}|http://${LOOPBACK}${REST}`,
    "an address that begins with https://, or with http:// and a loopback host, without user or password",
    URL_LENGTH_MAX,
  ),
  shown: form(`${WEB}|${OWN_PATH}`, "an address such as https://example.com, or a path that begins with /", URL_LENGTH_MAX),
  image: form(
    `${WEB}|${OWN_PATH}|${IMAGE}`,
    "a URL such as https://example.com/logo.svg, a path that begins with /, or a data: URL that begins with data:image/",
    HTML_LENGTH_MAX,
  ),
  link: form(
    `${WEB}|${OWN_PATH}|mailto:[^\\s]+`,
    "an address that begins with https://, http:// or mailto:, or a path that begins with /",
    URL_LENGTH_MAX,
  ),
  repository: form(`(?:https?|oci)://${USER}${SERVER}${REST}`, "an address that begins with https://, http:// or oci://", URL_LENGTH_MAX),
  redirect: form("[A-Za-z][A-Za-z0-9+.\\-]*:/[^\\s#]*", "an address with a scheme and without a fragment (#)", URL_LENGTH_MAX),
  host: form(SERVER, "a host name without scheme or path", 260),
  hostOrWeb: form(`(?:https?://)?${SERVER}/?`, "a host name", 270),
  domain: form(NAME, "a domain such as example.com", 253),
  wildcardDomain: form(`(?:\\*\\.)?${NAME}`, "a domain such as *.workspace.example.com", 255),
  email: form(`[^\\s@<>(),;:"\\p{Cc}]{1,64}@${NAME}`, "an email address", 320),
  path: form("(?!-----BEGIN )(?:[^\\p{Cc}]*[^\\p{Cc}/\\s])", "the path of a file", PATH_LENGTH_MAX),
  colour: form(COLOUR, "a colour such as #336699 or navy", 100),
  scope: form("[\\x21\\x23-\\x5b\\x5d-\\x7e]+", "a scope without spaces", LINE_LENGTH_MAX),
  secret: form("[^\\p{Cc}]*", "text on one line", 8_192),
  tenant: form(`[A-Za-z0-9](?:[A-Za-z0-9.\\-]*[A-Za-z0-9])?`, "common, consumers, organizations, or the uuid or name of a tenant", 253),
  duration: form("(?:[0-9]{1,9}(?:\\.[0-9]{1,9})?(?:ms|s|m|h))+", "a duration such as 90s or 1h30m", 60),
  retention: form("(?:[0-9]{1,9}(?:ms|s|m|h|d|w|y))+", "a duration such as 12h, 30d or 1y", 60),
  storageClass: form(`-|${SUBDOMAIN}`, "the name of a storage class, or -", 253),
  objectName: form(SUBDOMAIN, "the name of an object", 253),
  dataKey: form("[A-Za-z0-9._\\-]+", "a key of a Secret's data", 253),
  vaultNamespace: form("/?[A-Za-z0-9_\\-]+(?:/[A-Za-z0-9_\\-]+)*/?", "names separated by slashes", 253),
  moduleOrWeb: form(`${WEB}|[A-Za-z0-9._\\-]+`, "an address or the name of a module", URL_LENGTH_MAX),
  pathPattern: form("(?:/[^\\s*]*)?\\*?", "a path that begins with /, with * only at its end", URL_LENGTH_MAX),
  plural: form(
    "\\*|[a-z0-9.\\-]+(?:/(?:\\*|[a-z0-9.\\-]+))?|\\*/[a-z0-9.\\-]+",
    "a plural such as teams, optionally with a subresource after a slash, or *",
    253,
  ),
  group: form(`\\*|${SUBDOMAIN}`, "an API group, or *", 253),
  verb: form("\\*|[a-z]+", "a verb such as get, or *", 63),
  attributeName: form("[^\\p{Cc}\\s](?:[^\\p{Cc}]*[^\\p{Cc}\\s])?", "a name without surrounding spaces", LINE_LENGTH_MAX),
} as const satisfies Readonly<Record<string, Form>>;

/** Name of a format. */
export type FormName = keyof typeof FORMS;

/** A string in a format, without a default. */
export const formField = (name: FormName, description: string) =>
  ({ type: "string", description, ...FORMS[name] }) as const satisfies StringSchema;

/** A list of non-empty strings in a format, without a default. */
export const formList = (name: FormName, description: string) =>
  ({ type: "list", items: { ...formField(name, "One of them."), minLength: 1 }, description }) as const satisfies ListSchema;
