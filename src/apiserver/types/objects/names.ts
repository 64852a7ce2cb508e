/**
 * The rules of Kubernetes for names, with the messages of Kubernetes.
 *
 * @module
 */
import { utf8Size } from "../../../base/digest.ts";

/** Validates a text. Returns one message for each error; none if the text is valid. */
export type TextRule = (text: string) => readonly string[];

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED})?`;
const DATA_KEY = "[-._a-zA-Z0-9]+";

const NO_FAULTS: readonly string[] = Object.freeze([]);

/** Longest DNS label, and longest label value, in bytes. */
const LABEL_MAX = 63;
/** Longest DNS name in bytes. */
const SUBDOMAIN_MAX = 253;

function rule({ pattern, max, detail }: { pattern: string; max: number; detail: string }): TextRule {
  const exact = new RegExp(`^(?:${pattern})$`);
  const faultsOf: TextRule = (text) => [
    ...(utf8Size(text) > max ? [`must be no more than ${max} bytes`] : []),
    // The length is checked first, so that the pattern never runs over long hostile text.
    ...(text.length <= max && exact.test(text) ? [] : [detail]),
  ];
  // A text that matches the pattern has one byte for each character.
  return (text) => (text.length <= max && exact.test(text) ? NO_FAULTS : faultsOf(text));
}

/** The rule for names of namespaces, and for port names of Endpoints. */
export const dnsLabel = rule({
  pattern: LABEL,
  max: LABEL_MAX,
  detail: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`,
});

/** The rule for most object names. */
export const dnsSubdomain = rule({
  pattern: SUBDOMAIN,
  max: SUBDOMAIN_MAX,
  detail: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`,
});

/** The rule for names of Services. */
export const dns1035Label = rule({
  pattern: LABEL_1035,
  max: LABEL_MAX,
  detail: `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL_1035}')`,
});

/** The rule for values of labels. */
export const labelValue = rule({
  pattern: LABEL_VALUE,
  max: LABEL_MAX,
  detail: `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${LABEL_VALUE}')`,
});

const namePart = rule({
  pattern: QUALIFIED,
  max: LABEL_MAX,
  detail: `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`,
});

const dataKeyText = rule({
  pattern: DATA_KEY,
  max: SUBDOMAIN_MAX,
  detail: `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${DATA_KEY}')`,
});

/** The rule for finalizers and keys of labels and (lowercased) annotations: an optional DNS prefix with a slash, and a name. */
export const qualifiedName: TextRule = (text) => {
  if (!text.includes("/") && text !== "" && namePart(text).length === 0) return NO_FAULTS;
  const parts = text.split("/");
  if (parts.length > 2) {
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1)!;
  const prefix = parts.length === 2 ? parts[0]! : undefined;
  const prefixErrors = prefix === "" ? ["must be non-empty"] : prefix === undefined ? [] : dnsSubdomain(prefix);
  const nameErrors = name === "" ? ["must be non-empty"] : namePart(name);
  return [...prefixErrors.map((error) => `prefix part ${error}`), ...nameErrors.map((error) => `name part ${error}`)];
};

/** The rule for keys in the data of Secrets and ConfigMaps. */
export const dataKey: TextRule = (text) => [
  ...dataKeyText(text),
  ...(text === "." ? ["must not be '.'"] : []),
  ...(text === ".." ? ["must not be '..'"] : text.startsWith("..") ? ["must not start with '..'"] : []),
];

/** The rule for text that is one segment of a URL path. Some kinds have no stricter rule for names. */
export const pathSegment: TextRule = (text) => [
  ...(text === "." || text === ".." ? [`may not be '${text}'`] : []),
  ...["/", "%"].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`),
];
