import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseManagementConfig } from "../../../src/management/config/config.ts";
import type { ManagementConfig } from "../../../src/management/config/effective.ts";
import type { Environment } from "../../../src/kube/client/kube-config.ts";

/** The configuration of a text without errors. */
export function config(text: string, environment: Environment = {}): ManagementConfig {
  const result = parseManagementConfig(text, { environment });
  if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 1));
  return result.config;
}

/** Codes, fields and messages of a text's errors. */
export function errors(text: string): string[] {
  const result = parseManagementConfig(text);
  const found = result.ok ? [] : result.problems.filter(({ severity }) => severity === "error");
  return found.map(({ code, field, message }) => `${code} ${field}: ${message}`);
}

/** Codes and fields of a text's warnings. */
export function warnings(text: string): string[] {
  const result = parseManagementConfig(text);
  const found = result.ok ? result.warnings : result.problems.filter(({ severity }) => severity === "warning");
  return found.map(({ code, field, message }) => `${code} ${field}: ${message}`);
}

/** Where configurations of tests are. */
export const FIXTURES = join(import.meta.dirname, "../../../fixtures/management/config");

/** A configuration that has every field of the specification. */
export const every = config(readFileSync(join(FIXTURES, "good/every-field.yaml"), "utf8"));
