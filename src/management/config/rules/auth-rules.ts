/**
 * Rules for settings of `auth` beyond their schema.
 *
 * @module
 */
import { positionInside } from "../../../schema/node.ts";
import { headerProblem } from "../custom-headers.ts";
import { AUTH, FILTER_LENGTH_MAX } from "../schema/auth-schema.ts";
import { PROVIDER_NAMES } from "../schema/provider-schema.ts";
import { compileRegexp } from "../regexp/regexp.ts";
import { spotBelow, isTrue, isWritten, itemsOf, membersOf, refuseAt, warn, writtenText, type Spot } from "./spot.ts";

/** Checks the section `auth`. */
export function checkAuth(auth: Spot): void {
  checkProviders(auth);
  checkConnectors(auth);
  checkAdministrators(auth);
  checkHeaders(spotBelow(auth, "customHttpHeaders"));
  for (const filter of itemsOf(spotBelow(auth, "groupsFilters"))) checkFilter(filter);
}

/** The rules of the provider sections, which `auth` and connectors share. */
function checkProviders(holder: Spot): void {
  checkOidc(spotBelow(holder, "oidc"));
  checkDirectory(spotBelow(holder, "directoryProviderA"));
  checkSourceHostA(spotBelow(holder, "sourceHostA"));
  for (const name of WITH_CLIENT) checkClient(spotBelow(holder, name));
  const saml = spotBelow(holder, "saml");
  if (saml.node?.kind === "map") checkSaml(saml);
}

function checkOidc(oidc: Spot): void {
  if (oidc.node?.kind !== "map") return;
  const missing = ["issuerUrl", "clientId"].filter((name) => !isWritten(spotBelow(oidc, name)));
  if (missing.length > 0) warn(oidc, { message: `No user can sign in here without ${missing.join(" and ")}` });
}

/** Sections in which the platform is a client with a secret. */
const WITH_CLIENT = ["sourceHostA", "sourceHostB", "directoryProviderA", "directoryProviderB"] as const;

function checkClient(provider: Spot): void {
  if (provider.node?.kind !== "map") return;
  const missing = ["clientId", "clientSecret"].filter((name) => !isWritten(spotBelow(provider, name)));
  if (missing.length > 0) warn(provider, { message: `No user can sign in here without ${missing.join(" and ")}` });
}

function checkSourceHostA(provider: Spot): void {
  const [host, ca] = [spotBelow(provider, "hostName"), spotBelow(provider, "rootCA")];
  const name = writtenText(host) ?? "";
  if (name === "" && (writtenText(ca) ?? "") !== "") warn(ca, { message: "Without hostName, rootCA has no effect" });
}

function checkDirectory(provider: Spot): void {
  const account = spotBelow(provider, "serviceAccountFilePath");
  const email = spotBelow(provider, "adminEmail");
  const groups = spotBelow(provider, "groups");
  if (writtenText(account) === undefined && itemsOf(groups).length > 0)
    warn(groups, { message: 'No user can sign in: checking membership in "groups" requires serviceAccountFilePath' });
  if (writtenText(account) === undefined || writtenText(email) !== undefined) return;
  const message = 'Missing "adminEmail", which serviceAccountFilePath requires';
  refuseAt({ ...account, field: email.field }, { code: "CONFIG_REQUIRED", message });
}

/** Formats of SAML 2.0 that have no abbreviation. */
const NEWER_FORMATS = ["persistent", "transient", "entity", "encrypted", "kerberos"];

/** The format of names that differ at each sign-in. */
const TRANSIENT_NAMES = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";

function checkSaml(saml: Spot): void {
  const [caData, ca, skip] = ["caData", "ca", "insecureSkipSignatureValidation"].map((name) => spotBelow(saml, name)) as [Spot, Spot, Spot];
  const [data, path] = [writtenText(caData), writtenText(ca)];
  if (data === undefined && path === undefined && !isTrue(skip)) {
    const message = "Missing caData, ca or insecureSkipSignatureValidation: true; one of them determines how responses are checked";
    refuseAt(saml, { code: "CONFIG_REQUIRED", message });
  }
  if (data !== undefined && path !== undefined) warn(ca, { message: "Found ca together with caData, which takes precedence" });
  if (data !== undefined && !isBase64(data)) refuseAt(caData, { message: "Expected base64" });
  const hasSigners = data !== undefined || path !== undefined;
  checkSigners(skip, hasSigners);
  const [address, issuer] = ["ssoURL", "ssoIssuer"].map((name) => writtenText(spotBelow(saml, name)));
  if (hasSigners && address !== undefined && issuer === undefined)
    warn(saml, { message: "Without ssoIssuer, any issuer whose responses are signed with these certificates can name any user" });
  checkSamlAddress(saml);
  const groups = spotBelow(saml, "allowedGroups");
  if (writtenText(spotBelow(saml, "groupsAttr")) === undefined && itemsOf(groups).length > 0)
    warn(groups, { message: 'No user can sign in: checking membership in "allowedGroups" requires groupsAttr' });
  const format = spotBelow(saml, "nameIDPolicyFormat");
  const word = writtenText(format);
  if (word === TRANSIENT_NAMES) warn(format, { message: "No user can sign in here: a transient name differs at each sign-in" });
  if (word !== undefined && NEWER_FORMATS.includes(word)) {
    const hint = `Write urn:oasis:names:tc:SAML:2.0:nameid-format:${word} if you mean that format`;
    warn(format, { message: "An abbreviation refers to a format of SAML 1.1, which has no format with this name", hint });
  }
}

function checkSigners(skip: Spot, hasSigners: boolean): void {
  if (!isTrue(skip)) return;
  if (hasSigners) warn(skip, { message: "Has no effect when ca or caData is set: signatures are checked" });
  else warn(skip, { message: "Anyone can sign in here as someone else, because nothing proves who sent a response" });
}

function checkSamlAddress(saml: Spot): void {
  const address = spotBelow(saml, "ssoURL");
  const text = writtenText(address);
  if (text === undefined) warn(saml, { message: "No user can sign in here without ssoURL" });
  else if (/^http:\/\/(?!127\.0\.0\.1[:/]|\[::1\][:/]|localhost[:/])/i.test(text))
    warn(address, { message: "No user can sign in here: users are sent to other sites only over https" });
}

function isBase64(text: string): boolean {
  const compact = text.replace(/\s/g, "");
  return compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact);
}

/** Ids must be unique: connectors and the sections of `auth` share the sign-in addresses. */
function checkConnectors(auth: Spot): void {
  checkPlainNames(auth);
  const sections = [...PROVIDER_NAMES, "clusterManager"].filter((name) => isWritten(spotBelow(auth, name)));
  const taken = new Map([...sections, "password"].map((name) => [name, `auth.${name}`]));
  for (const connector of itemsOf(spotBelow(auth, "connectors"))) {
    const id = spotBelow(connector, "id");
    const name = writtenText(id);
    const other = name === undefined ? undefined : taken.get(name);
    if (other !== undefined)
      refuseAt(id, { message: `The id ${JSON.stringify(name)} is already used by ${other}`, hint: "Choose another one" });
    else if (name !== undefined) taken.set(name, connector.field);
    if (connector.node?.kind !== "map") continue;
    checkProviders(connector);
    const written = PROVIDER_NAMES.filter((provider) => isWritten(spotBelow(connector, provider)));
    if (written.length === 0) warn(connector, { message: "No user can sign in with a connector without a provider" });
    if (written.length > 1) warn(connector, { message: `Expected one provider in a connector, found ${written.join(", ")}` });
  }
}

/** The ids of all sign-in methods. */
function idsOf(auth: Spot): readonly string[] {
  const sections = [...PROVIDER_NAMES, "clusterManager"].filter((name) => isWritten(spotBelow(auth, name)));
  return [...sections, ...itemsOf(spotBelow(auth, "connectors")).map((connector) => writtenText(spotBelow(connector, "id")) ?? "")];
}

/** A misspelled id would leave the platform without administrators, which shows only at the first sign-in. */
function checkAdministrators(auth: Spot): void {
  const ids = idsOf(auth);
  const withIds = new Set(ids.filter((id) => isDirectoryB(auth, id)));
  for (const item of itemsOf(spotBelow(auth, "administrators"))) {
    const [connector, group] = [spotBelow(item, "connector"), spotBelow(item, "group")];
    demandConnector(connector, ids);
    const name = writtenText(group) ?? "";
    if (name === "" || !withIds.has(writtenText(connector) ?? "") || GROUP_ID.test(name)) continue;
    const message = "Expected the id of a group: group names of directoryProviderB are not unique, and users can create groups";
    refuseAt(group, { message, hint: "Write the object id, such as 00000000-0000-4000-8000-0000006f7073" });
  }
}

/** The id of a group of directoryProviderB. */
const GROUP_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether users of the sign-in method with this id come from directoryProviderB. */
function isDirectoryB(auth: Spot, id: string): boolean {
  if (id === "directoryProviderB") return true;
  const connector = itemsOf(spotBelow(auth, "connectors")).find((one) => writtenText(spotBelow(one, "id")) === id);
  return connector !== undefined && isWritten(spotBelow(connector, "directoryProviderB"));
}

function demandConnector(owner: Spot, ids: readonly string[]): void {
  const id = writtenText(owner) ?? "";
  if (id === "" || ids.includes(id)) return;
  refuseAt(owner, {
    message: `There is no connector ${JSON.stringify(id)}`,
    hint: `Write one of ${ids.join(", ") || "the connectors that you set up"}`,
  });
}

/** A misspelled id would leave all users without plain names, which shows only at the first sign-in. */
function checkPlainNames(auth: Spot): void {
  demandConnector(spotBelow(auth, "plainNamesConnector"), idsOf(auth));
}

function checkHeaders(headers: Spot): void {
  const seen = new Map<string, string>();
  for (const [name, header] of membersOf(headers)) {
    const key = name.toLowerCase();
    const before = seen.get(key);
    if (!isWritten(header)) continue;
    const problem = headerProblem(name, writtenText(header) ?? "");
    if (before !== undefined) refuseAt(header, { message: `Found the headers ${before} and ${name}, which are the same header` });
    // The schema refuses names and values that no header can have.
    else if (problem !== undefined && isHeader(name, header)) warn(header, { message: `The header ${name} is not set: ${problem}` });
    seen.set(key, name);
  }
}

/** Whether name and value match the schema. */
function isHeader(name: string, header: Spot): boolean {
  const { keys, values } = AUTH.fields.customHttpHeaders;
  return new RegExp(keys.pattern, "u").test(name) && new RegExp(values.pattern, "u").test(writtenText(header) ?? "");
}

function checkFilter(filter: Spot): void {
  const source = writtenText(filter);
  // The schema refuses a longer one.
  if (source === undefined || source.length > FILTER_LENGTH_MAX || filter.node?.kind !== "scalar") return;
  const result = compileRegexp(source);
  if (result.ok) return;
  const at = positionInside(filter.node, { line: 1, column: result.offset + 1 });
  const message = `Expected a regular expression in RE2 syntax: ${result.message}`;
  filter.report.error({ code: "CONFIG_VALUE", at, field: filter.field, message });
}
