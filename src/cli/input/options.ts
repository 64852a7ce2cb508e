import { InvalidArgumentError, Option, type Command } from "commander";
import { isEngineError } from "../../base/errors.ts";
import { selectControllers } from "../../cluster/controllers/running/controller-selection.ts";
import { createAddressOf } from "../../apiserver/http/client-address.ts";
import { collect } from "../process/command.ts";
import { DEFAULT_VCLUSTER } from "./configuration.ts";

/** The option `--config`, which is repeatable. */
export function configOption(use = "the virtual cluster's configuration"): Option {
  return new Option("--config <file>", `vcluster.yaml: ${use}; repeatable; later files take precedence`)
    .env("ENDPOINT_SYNC_CONFIG")
    .argParser(collect);
}

/** The option `--settings`. */
export function settingsOption(): Option {
  return new Option("--settings <file>", "file with the settings of the engine").env("ENDPOINT_SYNC_SETTINGS");
}

/** Adds `--name` and `--namespace` to a command that needs no cluster. Placeholders replace missing names. */
export function addVclusterOptions(command: Command): Command {
  const { name, namespace } = DEFAULT_VCLUSTER;
  return command.addOption(nameOption(`; ${name} when omitted`)).addOption(namespaceOption(`; ${namespace} when omitted`));
}

/** The options `--name` and `--namespace` for commands that work on clusters. There are no placeholders. */
export function vclusterOptions(): readonly Option[] {
  return [nameOption(), namespaceOption()];
}

function nameOption(otherwise = ""): Option {
  return new Option("--name <name>", `name of the virtual cluster${otherwise}`).env("ENDPOINT_SYNC_NAME").argParser(parseLabel);
}

function namespaceOption(otherwise = ""): Option {
  return new Option("-n, --namespace <namespace>", `host namespace of the virtual cluster${otherwise}`)
    .env("ENDPOINT_SYNC_NAMESPACE")
    .argParser(parseLabel);
}

/** Parses a DNS label, the form of the names of virtual clusters and namespaces. @throws InvalidArgumentError for any other value. */
export function parseLabel(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError("Expected at most 63 lower-case letters, digits and hyphens, without a hyphen at either end.");
}

/** Parses a TCP port. @throws InvalidArgumentError for any other value. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^[0-9]{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("Expected a number from 0 to 65535.");
}

/**
 * Parses the URL of a server, and removes trailing slashes.
 *
 * @throws InvalidArgumentError for any other value, and for an address with credentials, a query or a fragment.
 */
export function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isWeb = url !== undefined && ["http:", "https:"].includes(url.protocol) && /^https?:\/\//i.test(text);
  if (isWeb && [url.username, url.password, url.search, url.hash].every((part) => part === "")) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("Expected a URL such as https://platform.example, without user, query or fragment.");
}

/**
 * Parses a list of the proxies' networks, separated by commas.
 *
 * @throws InvalidArgumentError for a value that is neither an IP address nor a network.
 */
export function parseNetworks(text: string): readonly string[] {
  const networks = text.split(",").map((network) => network.trim());
  try {
    createAddressOf(networks);
    return networks;
  } catch {
    throw new InvalidArgumentError("Expected IP addresses or networks, as in 10.0.0.0/8,2001:db8::1.");
  }
}

/**
 * Parses a list of controllers, separated by commas.
 *
 * @throws InvalidArgumentError for a list that {@link selectControllers} refuses.
 */
export function parseControllers(text: string): readonly string[] {
  const names = text.split(",").flatMap((name) => name.trim() || []);
  try {
    selectControllers(names);
    return names;
  } catch (error) {
    if (!isEngineError(error, "USAGE")) throw error;
    throw new InvalidArgumentError(`${error.message}. ${String(error.details.hint)}`);
  }
}

/** Parses a whole number, 0 or more. @throws InvalidArgumentError for any other value. */
export function parseCount(text: string): number {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a whole number.");
}

/** Parses a whole number, 1 or more. @throws InvalidArgumentError for any other value. */
export function parsePositive(text: string): number {
  if (/^[0-9]{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError("Expected a whole number, 1 or more.");
}

/** Parses a rate above 0. @throws InvalidArgumentError for any other value. */
export function parseRate(text: string): number {
  const rate = Number(text);
  if (Number.isFinite(rate) && rate > 0) return rate;
  throw new InvalidArgumentError("Expected a number above 0.");
}
