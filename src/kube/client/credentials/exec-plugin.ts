import { spawn } from "node:child_process";
import type { Clock } from "../../../base/clock.ts";
import { EngineError, messageOf } from "../../../base/errors.ts";
import { isRecord } from "../../../base/json.ts";
import { excerpt } from "../answer.ts";

/** `users[].user.exec` of a kubeconfig. */
export interface ExecSpec {
  readonly apiVersion?: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
}

/** Options for running a plugin. */
export interface ExecOptions {
  readonly exec: ExecSpec;
  /** The environment that the plugin inherits, including PATH. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Passed to the plugin on request. */
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  /** The plugin is killed after this many milliseconds. */
  readonly timeoutMs: number;
  /** Kills the plugin. */
  readonly signal: AbortSignal;
}

/** Response of a plugin. */
export interface ExecCredential {
  readonly token: string | undefined;
  /** PEM. */
  readonly certificate: string | undefined;
  /** PEM. */
  readonly key: string | undefined;
  /** Wall time in milliseconds since 1970; undefined: valid until the server refuses it. */
  readonly expiresAt: number | undefined;
}

/** Maximum output of a plugin, in bytes. Credentials are much smaller. */
const OUTPUT_BYTES_MAX = 1 << 20;

/**
 * Runs a credential plugin once, using the protocol of client.authentication.k8s.io: the plugin reads the request from KUBERNETES_EXEC_INFO
 * and writes its response to standard output.
 *
 * @throws API_UNAUTHORIZED when the plugin cannot be run, fails, takes too long or returns no credential.
 * @example
 * await runExecPlugin({ exec: { command: "aws", args: ["eks", "get-token"] }, environment, cluster: {}, clock, timeoutMs: 60_000, signal });
 */
export async function runExecPlugin(options: ExecOptions): Promise<ExecCredential> {
  const { exec } = options;
  try {
    return parseCredential(await output(options));
  } catch (error) {
    const hint = exec.installHint ? ` (${exec.installHint})` : "";
    throw new EngineError(
      "API_UNAUTHORIZED",
      `Cannot get credentials from plugin ${JSON.stringify(exec.command)}: ${messageOf(error)}${hint}`,
      {
        cause: error,
      },
    );
  }
}

function output({ exec, environment, cluster, clock, timeoutMs, signal }: ExecOptions): Promise<string> {
  const apiVersion = exec.apiVersion ?? "client.authentication.k8s.io/v1";
  const spec = exec.provideClusterInfo ? { interactive: false, cluster } : { interactive: false };
  const own = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]));
  const env = { ...environment, ...own, KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: "ExecCredential", spec }) };
  return new Promise((resolve, reject) => {
    const plugin = spawn(exec.command, [...(exec.args ?? [])], { env, stdio: ["ignore", "pipe", "pipe"], signal, killSignal: "SIGKILL" });
    const timer = clock.schedule(timeoutMs, () => fail(new Error(`it took longer than ${timeoutMs} ms`)));
    const fail = (error: Error) => {
      plugin.kill("SIGKILL");
      timer.cancel();
      reject(error);
    };
    const stdout = collect(plugin.stdout, () => fail(new Error(`it wrote more than ${OUTPUT_BYTES_MAX} bytes`)));
    const stderr = collect(plugin.stderr, () => fail(new Error(`it wrote more than ${OUTPUT_BYTES_MAX} bytes to standard error`)));
    plugin.on("error", fail);
    plugin.on("close", (code) => {
      timer.cancel();
      if (code === 0) resolve(stdout());
      else reject(new Error(`exit code ${code}, ${excerpt(stderr())}`));
    });
  });
}

function collect(stream: NodeJS.ReadableStream, tooLong: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= OUTPUT_BYTES_MAX) chunks.push(chunk);
    else tooLong();
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

/** The plugin's output is secret: no message quotes it. */
function parseCredential(text: string): ExecCredential {
  const answer = parse(text);
  const status = isRecord(answer) && isRecord(answer["status"]) ? answer["status"] : undefined;
  const member = (name: string) => (typeof status?.[name] === "string" ? status[name] : undefined);
  const token = member("token");
  const certificate = member("clientCertificateData");
  const key = member("clientKeyData");
  if (token === undefined && (certificate === undefined || key === undefined)) {
    throw new Error("it did not return an ExecCredential with a token or a client certificate and key");
  }
  const expiresAt = Date.parse(member("expirationTimestamp") ?? "");
  return { token, certificate, key, expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may contain a token.
    throw new Error("it did not return JSON");
  }
}
