/**
 * Reads the platform's configuration: returns the effective configuration, or every error of the file.
 *
 * @module
 */
import { decode } from "../../schema/decode.ts";
import { Report, sortProblems, type Problem } from "../../schema/problem.ts";
import { defaultOf } from "../../schema/schema.ts";
import { readYaml } from "../../schema/yaml.ts";
import { MANAGEMENT_SCHEMA } from "./schema/config-schema.ts";
import { effectiveConfig, type ManagementConfig, type WrittenConfig } from "./effective.ts";
import type { Environment } from "../../kube/client/kube-config.ts";
import { checkRules } from "./rules/rules.ts";
import { withoutFound } from "./secrets.ts";

/** A configuration with its warnings, or all errors and warnings. */
export type ManagementConfigResult =
  | { readonly ok: true; readonly config: ManagementConfig; readonly warnings: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Options of {@link parseManagementConfig}. */
export interface ManagementConfigOptions {
  /** Name of the file in the positions of problems. Default "platform.yaml". */
  readonly file?: string;
  /** Environment variables of the process. Default none. */
  readonly environment?: Environment;
}

/**
 * Reads a configuration file, which has the same fields as the `status` of a Config object. An empty file means all defaults. The
 * configuration is frozen.
 *
 * Problems never quote a secret. Error codes: CONFIG_SYNTAX, CONFIG_TYPE, CONFIG_UNKNOWN_FIELD, CONFIG_REQUIRED, CONFIG_VALUE.
 *
 * @example
 * const result = parseManagementConfig("auth: {accessKeyMaxTTLSeconds: 36000}\n", { file: "platform.yaml" });
 * result.ok && result.config.auth.loginAccessKeyTTLSeconds; // 1728000
 */
export function parseManagementConfig(text: string, options: ManagementConfigOptions = {}): ManagementConfigResult {
  const { file = "platform.yaml", environment = {} } = options;
  const report = new Report();
  const node = readYaml(text, { file, report });
  if (node === undefined) return { ok: false, problems: report.problems };
  const written = decode(MANAGEMENT_SCHEMA, node, { report });
  checkRules(node, report);
  const problems = withoutFound(sortProblems(report.problems));
  if (report.failed || written === undefined) return { ok: false, problems };
  return { ok: true, config: deepFreeze(effectiveConfig(written, environment)), warnings: problems };
}

/** The configuration of an empty file without environment variables. */
export const DEFAULT_MANAGEMENT_CONFIG = deepFreeze(effectiveConfig(defaultOf(MANAGEMENT_SCHEMA) as WrittenConfig, {}));

/** All readers share one configuration, and all configurations share the default lists. */
function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
