/**
 * `login-token`: the command of a kubeconfig that `login --exec` wrote. It prints the stored key for kubectl, and signs the user in
 * again when the key no longer works.
 *
 * @module
 */
import { systemClock } from "../../../base/clock.ts";
import { EngineError, isEngineError } from "../../../base/errors.ts";
import { createProviderFetch } from "../../../management/sign-in/oidc/provider-fetch.ts";
import { readProxies } from "../../../management/sign-in/oidc/proxies.ts";
import type { CommandContext } from "../../process/command.ts";
import { visible } from "../../output/output.ts";
import { demandConnector, platformAddress, signInByBrowser, takesKey } from "./browser-login.ts";
import type { LoginKey } from "./login-key.ts";
import { EXEC_INFO_VARIABLE, formatExecCredential, loginTokenArguments, readExecInfo, type LoginTokenFlags } from "./exec-credential.ts";
import { openKeptKeys, type KeptKeys } from "./kept-keys.ts";

/** A key with less time left, in milliseconds, is replaced, because it could expire during a command. */
const LEFT_MIN_MS = 60_000;

/**
 * Prints the key as an ExecCredential to a pipe, from which kubectl reads it. On a terminal, prints only the key's expiry.
 *
 * @throws USAGE for a server over plain HTTP on another machine, an unknown connector, or a server that is not that of the kubeconfig's
 *   cluster; API_UNAUTHORIZED when the sign-in fails, or is needed but no user is present; API_UNAVAILABLE when the platform cannot be
 *   reached; CONFIG_FILE when the key cannot be stored.
 */
export async function runLoginToken({ terminal }: CommandContext, flags: LoginTokenFlags): Promise<void> {
  const { connector, timeout } = flags;
  const server = platformAddress(flags.server);
  const info = readExecInfo(terminal.env[EXEC_INFO_VARIABLE]);
  if (info?.server !== undefined) demandSameServer(server, info.server);
  const ca = info?.caPem ?? (flags.ca === undefined ? undefined : await terminal.read(flags.ca));
  const fetch = createProviderFetch({ proxyFor: readProxies(terminal.env), ...(ca !== undefined && { ca }) });
  const keys = openKeptKeys(terminal.env, { server, connector });
  const warn = (text: string) => terminal.err(`Warning: ${visible(text)}`);

  const works = async (key: LoginKey | undefined): Promise<string | undefined> => {
    if (key === undefined) return "no key is stored";
    const ended = endOf(key);
    if (ended !== undefined) return `the stored ${ended}`;
    return (await takesKey(fetch, server, key.accessKey)) ? undefined : "the platform no longer accepts the stored key";
  };
  const print = (key: LoginKey) => {
    if (terminal.screen === undefined) return terminal.out(formatExecCredential(key));
    terminal.out(`Signed in${key.expiresAt === undefined ? "" : ` until ${key.expiresAt}`}; kubectl uses the key ${key.name}\n`);
  };

  const kept = await readOrWarn(keys, warn);
  const why = await works(kept);
  if (kept !== undefined && why === undefined) return print(kept);
  if (!(info?.interactive ?? terminal.ask !== undefined)) throw unattended(`${server}: ${why!}`, { ...flags, server });
  // Not AbortSignal.timeout, which accepts at most 49 days.
  const late = new AbortController();
  const timer = systemClock.schedule(timeout * 1_000, () => late.abort(new DOMException("Too late", "TimeoutError")));
  const signal = AbortSignal.any([terminal.stopSignal(), late.signal]);
  const signIn = keys.alone(
    async () => {
      const now = await readOrWarn(keys, () => undefined);
      if (now !== undefined && now.accessKey !== kept?.accessKey && (await works(now)) === undefined) return now;
      await demandConnector(fetch, server, connector);
      const made = await signInByBrowser(terminal, { server, fetch, connector, timeout, opens: flags.browser });
      await keys.write(made);
      const ended = endOf(made);
      if (ended !== undefined)
        warn(`The new ${ended}: kubectl asks you to sign in for each command. Check this machine's clock, which shows ${nowText()}`);
      return made;
    },
    { signal, waits: () => terminal.err("Another process is signing in; waiting for it") },
  );
  print(await signIn.finally(() => timer.cancel()));
}

/** Describes a key that has expired or is about to expire, by this machine's clock; undefined for other keys. */
function endOf({ expiresAt }: LoginKey): string | undefined {
  if (expiresAt === undefined) return undefined;
  const leftMs = Date.parse(expiresAt) - systemClock.now();
  return leftMs < LEFT_MIN_MS ? `key ${leftMs < 0 ? "expired" : "expires"} at ${expiresAt}` : undefined;
}

const nowText = () => new Date(systemClock.now()).toISOString();

/** Reads the stored key. Only warns about a broken file, because another sign-in replaces it. */
async function readOrWarn(keys: KeptKeys, warn: (text: string) => void): Promise<LoginKey | undefined> {
  try {
    return await keys.read();
  } catch (error) {
    if (!isEngineError(error, "CONFIG_FILE")) throw error;
    warn(error.message);
    return undefined;
  }
}

/** The key of one platform must not reach another server. */
function demandSameServer(server: string, text: string): void {
  const clusters = URL.canParse(text) ? platformAddress(text) : text;
  if (clusters === server) return;
  throw new EngineError("USAGE", `The key is for ${server}, but the kubeconfig's cluster is at ${visible(clusters)}`, {
    details: { hint: "Create the context again with endpoint-sync login --exec --server URL" },
  });
}

function unattended(what: string, flags: LoginTokenFlags): EngineError {
  const words = ["endpoint-sync", ...loginTokenArguments(flags)].map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  );
  return new EngineError("API_UNAUTHORIZED", `Not signed in to ${what}, and this process cannot ask you to sign in`, {
    details: { hint: `Run this in a terminal, then try again: ${words.join(" ")}` },
  });
}
