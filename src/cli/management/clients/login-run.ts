/**
 * `login`: signs a user in with a browser, and writes the key, or a command that obtains a key, into a kubeconfig. The key is never shown.
 *
 * @module
 */
import { resolve } from "node:path";
import { EngineError } from "../../../base/errors.ts";
import { BASE_PATH } from "../../../management/api/base-path.ts";
import { createProviderFetch } from "../../../management/sign-in/oidc/provider-fetch.ts";
import { readProxies } from "../../../management/sign-in/oidc/proxies.ts";
import type { CommandContext } from "../../process/command.ts";
import { demandConnector, platformAddress, signInByBrowser } from "./browser-login.ts";
import { execEntry } from "./exec-credential.ts";
import { openKeptKeys } from "./kept-keys.ts";
import { checkContext, writeContext } from "./login-kubeconfig.ts";

/** The options of `login`. */
export interface LoginFlags {
  readonly server: string;
  readonly ca?: string;
  readonly connector?: string;
  readonly context: string;
  readonly kubeconfig?: string;
  readonly exec?: boolean;
  readonly timeout: number;
  readonly browser: boolean;
}

/**
 * Signs a user in to a platform.
 *
 * @throws USAGE for a server over plain HTTP on another machine, and for `--exec` when there is no folder for keys;
 *   API_UNAUTHORIZED if the sign-in fails; API_UNAVAILABLE when the platform cannot be reached; CONFIG_FILE when the kubeconfig or the key
 *   cannot be written.
 */
export async function runLogin({ terminal }: CommandContext, flags: LoginFlags): Promise<void> {
  const { connector, timeout } = flags;
  const server = platformAddress(flags.server);
  const path = flags.kubeconfig ?? `${flags.context}.kubeconfig`;
  const ca = flags.ca === undefined || flags.exec !== true ? undefined : caPath(flags.ca);
  const caPem = flags.ca === undefined ? undefined : await terminal.read(flags.ca);
  const context = { name: flags.context, url: `${server}${BASE_PATH}`, ...(caPem !== undefined && { caPem }) };
  await checkContext(path, context);
  const keys = flags.exec === true ? openKeptKeys(terminal.env, { server, connector }) : undefined;
  const fetch = createProviderFetch({ proxyFor: readProxies(terminal.env), ...(caPem !== undefined && { ca: caPem }) });
  await demandConnector(fetch, server, connector);
  const opens = flags.browser && terminal.screen !== undefined;
  const key = await signInByBrowser(terminal, { server, fetch, connector, timeout, opens });
  if (keys === undefined) await writeContext(path, { ...context, token: key.accessKey });
  else {
    await keys.write(key);
    await writeContext(path, {
      ...context,
      exec: execEntry({ ...flags, server, ...(ca !== undefined && { ca }) }),
    });
  }
  terminal.out(`Signed in${key.expiresAt === undefined ? "" : ` until ${key.expiresAt}`}; the key is ${key.name}\n`);
  terminal.out(`kubectl --kubeconfig ${path} get teams\n`);
}

/** Returns the absolute path of a certificate authority, because the command in the kubeconfig may run in any folder. */
function caPath(path: string): string {
  if (path !== "-") return resolve(path);
  throw new EngineError("USAGE", "--exec needs a file for --ca, because each sign-in reads the file again");
}
