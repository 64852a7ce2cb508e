/**
 * Rules for the configuration beyond its schema. They check the nodes of the file, so that each problem has its position, and skip values
 * of the wrong type, which have already been reported.
 *
 * @module
 */
import { resolve } from "node:path";
import { toJson, type Node } from "../../../schema/node.ts";
import type { Report } from "../../../schema/problem.ts";
import { canonicalQuantity } from "../../../apiserver/types/objects/quantity.ts";
import { AUDIT_LEVEL_MAX } from "../schema/audit-schema.ts";
import { SYNC_INTERVAL_MAX_MS, SYNC_INTERVAL_MIN_MS } from "../limits.ts";
import { shownOnlyIn } from "../shown-only.ts";
import { checkAuth } from "./auth-rules.ts";
import { dataStoreEndpoint } from "./data-store-endpoint.ts";
import { durationMs } from "./durations.ts";
import { checkRequirements } from "./requirements.ts";
import { spotAt, spotBelow, isTrue, isWritten, refuseAt, warn, writtenText, type Spot } from "./spot.ts";

/** Checks a whole file. */
export function checkRules(node: Node, report: Report): void {
  const root: Spot = { report, node, field: "" };
  checkAuth(spotBelow(root, "auth"));
  checkAudit(spotBelow(root, "audit"));
  warnOfIdleAllowance(spotBelow(root, "uiSettings", "externalURLs"));
  warnOfDeprecated(root);
  checkVault(spotBelow(root, "vault"));
  checkServices(root);
  warnOfShownOnly(root);
}

function checkAudit(audit: Spot): void {
  checkDataStore(audit);
  const [enabled, path] = [spotBelow(audit, "enabled"), spotBelow(audit, "path")];
  if (isTrue(enabled) && writtenText(path) === undefined && (path.node === undefined || path.node.kind === "scalar"))
    refuseAt(
      { ...enabled, field: path.field },
      { code: "CONFIG_REQUIRED", message: 'Missing "path", which is required when enabled is true' },
    );
  const level = spotBelow(audit, "level");
  if (isWritten(level) && isWritten(spotBelow(audit, "policy")))
    refuseAt(level, { message: "Found level together with policy", hint: "Remove one of the two" });
  if (level.node?.kind === "scalar" && Number(level.node.value) > AUDIT_LEVEL_MAX)
    warn(level, { message: `The highest level is ${AUDIT_LEVEL_MAX}, and this level has the same effect` });
}

/** Messages do not quote the endpoint, which is a secret. */
function checkDataStore(audit: Spot): void {
  const [endpoint, ttl] = [spotBelow(audit, "dataStoreEndpoint"), spotBelow(audit, "dataStoreTTL")];
  const text = writtenText(endpoint);
  const store = text === undefined ? undefined : dataStoreEndpoint(text);
  const file = writtenText(spotBelow(audit, "path"));
  if (store?.kind === "sqlite" && file !== undefined && resolve(store.path) === resolve(file))
    refuseAt(endpoint, { message: "Found the audit file's own path", hint: "Use a separate file for the database" });
  if (text !== undefined && store === undefined) {
    const hint =
      "Write sqlite:///PATH, mysql://USER:PASSWORD@HOST:PORT/DATABASE or mysql://USER:PASSWORD@tcp(HOST:PORT)/DATABASE; with ?tls=true, HOST must be a name";
    refuseAt(endpoint, { message: "Expected the address of a database", hint });
  }
  if (text === undefined && ttl.node?.kind === "scalar" && Number(ttl.node.value) > 0)
    warn(ttl, { message: "Has no effect without dataStoreEndpoint" });
  if (text !== undefined && !isTrue(spotBelow(audit, "enabled"))) warn(endpoint, { message: "Has no effect without enabled: true" });
}

function warnOfIdleAllowance(external: Spot): void {
  const allow = spotBelow(external, "allow");
  if (allow.node?.kind !== "list" || allow.node.items.length === 0 || isTrue(spotBelow(external, "block"))) return;
  warn(allow, { message: "Has no effect without block: true" });
}

function warnOfDeprecated(root: Spot): void {
  for (const name of ["oidc", "devWorkspaceSubDomain"]) {
    const spot = spotBelow(root, name);
    if (isWritten(spot)) warn(spot, { message: "Is deprecated" });
  }
}

/** Sections that describe services in containers. */
const SERVICES = [
  ["costControl", "global", "metrics"],
  ["costControl", "cluster", "metrics"],
  ["costControl", "cluster", "costbackend"],
  ["imageBuilder"],
] as const;

function checkServices(root: Spot): void {
  for (const path of SERVICES) {
    checkRequirements(spotBelow(root, ...path, "resources"));
    const size = spotBelow(root, ...path, "storage", "size");
    const amount = writtenText(size);
    if (amount !== undefined && !/^[0-9+.]/.test(canonicalQuantity(amount) ?? ""))
      refuseAt(size, { message: "Expected an amount such as 10Gi" });
  }
}

function checkVault(vault: Spot): void {
  checkInterval(spotBelow(vault, "syncInterval"));
  const enabled = spotBelow(vault, "enabled");
  const [token, file] = [spotBelow(vault, "auth", "token"), spotBelow(vault, "auth", "tokenFile")];
  if (isTrue(enabled) && writtenText(token) === undefined && writtenText(file) === undefined)
    warn(enabled, { message: "Nothing is copied without auth.token or auth.tokenFile" });
  if (writtenText(token) !== undefined && writtenText(file) !== undefined)
    refuseAt(file, { message: "Found tokenFile together with token", hint: "Remove one of the two" });
}

/** The field's pattern reports values that are not durations. */
function checkInterval(interval: Spot): void {
  const ms = durationMs(writtenText(interval) ?? "");
  if (ms === undefined || (ms >= SYNC_INTERVAL_MIN_MS && ms <= SYNC_INTERVAL_MAX_MS)) return;
  refuseAt(interval, { message: `Expected a duration from ${SYNC_INTERVAL_MIN_MS / 1_000}s to ${SYNC_INTERVAL_MAX_MS / 3_600_000}h` });
}

function warnOfShownOnly(root: Spot): void {
  for (const { field, why } of shownOnlyIn(toJson(root.node!))) warn(spotAt(root, field), { message: why });
}
