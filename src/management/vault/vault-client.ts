import { request as requestPlain, type IncomingMessage } from "node:http";
import { request as requestTls } from "node:https";
import { messageOf } from "../../base/errors.ts";
import type { ManagementConfig } from "../config/effective.ts";
import { failed, readVaultAnswer, type VaultAnswer, type VaultFailure, type VaultResult } from "./vault-values.ts";
import type { VaultSource } from "./vault-source.ts";

/** `vault` of the configuration. */
export type VaultSettings = ManagementConfig["vault"];

/** Sends one request to a vault. `path` is encoded and begins with `/v1/`. Never rejects. */
export type AskVault = (method: "GET" | "POST", path: string, signal: AbortSignal) => Promise<VaultAnswer | VaultFailure>;

const LOOPBACK: readonly string[] = ["127.0.0.1", "[::1]", "localhost"];

/**
 * Creates a client for the configured vault, or returns the reason why there is none. The client opens a connection for each request. It
 * follows no redirect and allows plain HTTP only on loopback, so that the token is sent nowhere else. It trusts Node's
 * certificate authorities and those of `NODE_EXTRA_CA_CERTS`.
 */
export function createVaultClient(settings: VaultSettings, token: string): AskVault | VaultFailure {
  const { address = "", namespace = "", skipTLSVerify, requestTimeoutSeconds, answerMaxKiB } = settings;
  if (!URL.canParse(address)) return failed("Invalid", "vault.address is missing, and VAULT_ADDR is not a valid address", true);
  const base = new URL(address);
  if (base.protocol !== "https:" && !(base.protocol === "http:" && LOOPBACK.includes(base.hostname)))
    return failed("Invalid", "the vault's address does not begin with https://", true);
  const place = namespace.replace(/^\/|\/$/g, "");
  const headers = { "X-Vault-Token": token, "X-Vault-Request": "true", ...(place !== "" && { "X-Vault-Namespace": place }) };
  return async (method, path, signal) => {
    const url = new URL(base);
    url.pathname = `${base.pathname.replace(/\/$/, "")}${path}`;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutSeconds * 1_000)]);
    try {
      const answer = await send(url, { method, headers, signal: limit, rejectUnauthorized: !skipTLSVerify });
      const text = await textOf(answer, answerMaxKiB * 1_024);
      if (text === undefined) return failed("TooLarge", `the vault's response is larger than ${answerMaxKiB} KiB`);
      return { status: answer.statusCode!, retryAfter: answer.headers["retry-after"], text };
    } catch (error) {
      const why = limit.aborted ? `it did not respond within ${requestTimeoutSeconds} s` : messageOf(error);
      return failed("Unavailable", `the vault cannot be reached: ${why}`, true);
    }
  };
}

/** Reads one secret of a vault. Never rejects. */
export async function readVaultSecret(ask: AskVault, source: VaultSource, signal: AbortSignal): Promise<VaultResult> {
  const answer = await ask("GET", source.requestPath, signal);
  return "ok" in answer ? answer : readVaultAnswer(source, answer);
}

interface Sent {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly rejectUnauthorized: boolean;
}

function send(url: URL, { rejectUnauthorized, ...shared }: Sent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { agent: false as const, ...shared };
    const request =
      url.protocol === "http:" ? requestPlain(url, options, resolve) : requestTls(url, { ...options, rejectUnauthorized }, resolve);
    request.on("error", reject);
    request.end();
  });
}

/** Returns undefined for a body that is too long, and stops reading it. */
async function textOf(answer: IncomingMessage, bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer) {
    length += (chunk as Buffer).length;
    if (length > bytesMax) {
      answer.destroy();
      return undefined;
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}
