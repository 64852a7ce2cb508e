/**
 * The protocol of kubectl's credential plugins: `client.authentication.k8s.io/v1`.
 *
 * @module
 */
import { EngineError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import type { LoginKey } from "./login-key.ts";

/** The only supported version; every kubectl since 1.22 supports it. */
const EXEC_API_VERSION = "client.authentication.k8s.io/v1";
/** The variable in which kubectl passes information to a plugin. */
export const EXEC_INFO_VARIABLE = "KUBERNETES_EXEC_INFO";
/** How long `login` and `login-token` wait for a sign-in by default, in seconds. */
export const LOGIN_TIMEOUT_SECONDS = 600;

/** The options of `login-token`, which a kubeconfig keeps. */
export interface LoginTokenFlags {
  readonly server: string;
  readonly ca?: string;
  readonly connector?: string;
  readonly timeout: number;
  readonly browser: boolean;
}

/** The information that kubectl passes to a plugin. */
export interface ExecInfo {
  /** True if a user is at the terminal. */
  readonly interactive: boolean;
  /** The cluster's server; undefined when the kubeconfig does not pass it on. */
  readonly server: string | undefined;
  /** The authority of the cluster's server; undefined when the kubeconfig has none. */
  readonly caPem: string | undefined;
}

/**
 * Reads the ExecCredential that kubectl passes in a variable; undefined without the variable, for example when a user runs the command.
 *
 * @throws CONFIG_VALUE when the value is not an ExecCredential, or has another version.
 */
export function readExecInfo(text: string | undefined): ExecInfo | undefined {
  if (text === undefined || text === "") return undefined;
  const document = parsed(text);
  if (!isRecord(document) || document["kind"] !== "ExecCredential" || !isRecord(document["spec"]))
    throw wrong("is not an ExecCredential", "Only kubectl and similar programs set this variable; unset it");
  if (document["apiVersion"] !== EXEC_API_VERSION)
    throw wrong(`does not have version ${EXEC_API_VERSION}`, "Create the context again with endpoint-sync login --exec");
  const { interactive, cluster } = document["spec"];
  const { server, "certificate-authority-data": ca } = isRecord(cluster) ? cluster : {};
  return {
    interactive: interactive === true,
    server: typeof server === "string" ? server : undefined,
    caPem: typeof ca === "string" && ca !== "" ? Buffer.from(ca, "base64").toString() : undefined,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wrong(why: string, hint: string): EngineError {
  return new EngineError("CONFIG_VALUE", `${EXEC_INFO_VARIABLE} ${why}`, { details: { hint } });
}

/** The ExecCredential with the key, for kubectl. */
export function formatExecCredential({ accessKey, expiresAt }: LoginKey): string {
  const status = { token: accessKey, ...(expiresAt !== undefined && { expirationTimestamp: expiresAt }) };
  return `${JSON.stringify({ apiVersion: EXEC_API_VERSION, kind: "ExecCredential", status })}\n`;
}

/** The arguments of `login-token` for these options. They contain no key, because other users of the machine can read them. */
export function loginTokenArguments({ server, ca, connector, timeout, browser }: LoginTokenFlags): readonly string[] {
  return [
    ...["login-token", "--server", server],
    ...(connector === undefined ? [] : ["--connector", connector]),
    ...(ca === undefined ? [] : ["--ca", ca]),
    ...(timeout === LOGIN_TIMEOUT_SECONDS ? [] : ["--timeout", String(timeout)]),
    ...(browser ? [] : ["--no-browser"]),
  ];
}

/** The `exec` entry of a user in a kubeconfig. */
export function execEntry(flags: LoginTokenFlags): object {
  return {
    apiVersion: EXEC_API_VERSION,
    command: "endpoint-sync",
    args: loginTokenArguments(flags),
    interactiveMode: "IfAvailable",
    provideClusterInfo: true,
    installHint: "endpoint-sync, which signs you in to the platform, is not in PATH. Install it with: npm install --global endpoint-sync",
  };
}
