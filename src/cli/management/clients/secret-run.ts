/**
 * SharedSecrets from the command line: read one, or keep a Secret up to date with it. Never prompts, so that pipelines can use both.
 *
 * @module
 */
import { systemChance } from "../../../base/chance.ts";
import { systemClock } from "../../../base/clock.ts";
import { EngineError, isEngineError } from "../../../base/errors.ts";
import { createLineLogger } from "../../../base/logger.ts";
import { createHttpClient } from "../../../kube/client/http-client.ts";
import { loadKubeConfig } from "../../../kube/client/kube-config.ts";
import { specOf } from "../../../management/kinds/common.ts";
import type { SharedSecretSpec } from "../../../management/kinds/shared-secret.ts";
import { SHARED_SECRETS } from "../../../management/kinds/types.ts";
import { BASE_PATH } from "../../../management/api/base-path.ts";
import { createSecretSync } from "../../../management/secrets/secret-sync.ts";
import type { ClusterClient } from "../../../kube/object/cluster-client.ts";
import type { ObjectKey } from "../../../kube/object/key.ts";
import type { KubeObject } from "../../../kube/object/types.ts";
import { formatKubeconfig } from "../../../apiserver/access/kubeconfig.ts";
import { aborted, type CommandContext } from "../../process/command.ts";
import type { KubeConfig } from "../../input/followed-cluster.ts";
import type { Terminal } from "../../process/terminal.ts";

/** The options for reaching the management API, as commander parses them. */
export interface SecretFlags {
  readonly namespace: string;
  readonly platformKubeconfig?: readonly string[];
  readonly platformUrl?: string;
  readonly platformCa?: string;
}

/** The options of `secret get`. */
export interface SecretGetFlags extends SecretFlags {
  readonly key?: string;
}

/** The options of `secret sync`. */
export interface SecretSyncFlags extends SecretFlags {
  readonly to?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly adopt?: boolean;
}

/** The variable with the access key for `--platform-url`. */
const ACCESS_KEY_VARIABLE = "ENDPOINT_SYNC_ACCESS_KEY";

/**
 * `secret get`: prints one value unchanged, or all values as lines `key: value`. A value that is not a single line of text is printed as
 * `key (base64): value`.
 *
 * @throws API_NOT_FOUND when the SharedSecret does not exist or does not contain the key; `API_…` errors of the platform.
 */
export async function getSecret({ terminal }: CommandContext, name: string, flags: SecretGetFlags): Promise<void> {
  const client = await platformClient(terminal, flags);
  try {
    const found = await findSecret(client, name, flags);
    const { data = {} } = specOf<SharedSecretSpec>(found);
    if (flags.key === undefined)
      return terminal.out(
        Object.entries(data)
          .map(([key, value]) => `${key}${readable(value)}\n`)
          .join(""),
      );
    const value = Object.hasOwn(data, flags.key) ? data[flags.key] : undefined;
    if (value === undefined) {
      const details = { hint: `It has ${Object.keys(data).join(", ") || "no values"}` };
      throw new EngineError("API_NOT_FOUND", `SharedSecret "${name}" has no value "${flags.key}"`, { details });
    }
    terminal.out(Buffer.from(value, "base64"));
  } finally {
    await client.close();
  }
}

/** Returns the SharedSecret. @throws API_NOT_FOUND when it does not exist, or the server does not serve SharedSecrets. */
async function findSecret(client: ClusterClient, name: string, { namespace, platformKubeconfig }: SecretFlags): Promise<KubeObject> {
  const found = await client.get(SHARED_SECRETS, { namespace, name }).catch(unlessAbsent);
  if (found !== undefined) return found;
  // Servers without the kind may answer as if only the object were missing, but not to a list.
  const listed = client.list(SHARED_SECRETS, { namespace, limit: 1 });
  const isServed = await listed.then(
    () => true,
    (error: unknown) => !isEngineError(error, "API_NOT_FOUND"),
  );
  if (isServed) throw new EngineError("API_NOT_FOUND", `There is no SharedSecret "${name}" in namespace "${namespace}"`);
  const hint = `Check ${platformKubeconfig === undefined ? "--platform-url" : "--platform-kubeconfig"}`;
  const message = `The server does not provide the management API ${SHARED_SECRETS.apiVersion}`;
  throw new EngineError("API_NOT_FOUND", message, { details: { hint } });
}

function unlessAbsent(error: unknown): undefined {
  if (!isEngineError(error, "API_NOT_FOUND")) throw error;
}

/** `secret sync`: syncs until the process is stopped. */
export async function syncSecret({ terminal }: CommandContext, name: string, flags: SecretSyncFlags): Promise<void> {
  const stop = terminal.stopSignal();
  const source: ObjectKey = { namespace: flags.namespace, name };
  const target = flags.to === undefined ? source : parseTarget(flags.to);
  const [platform, cluster] = await Promise.all([platformClient(terminal, flags), connectedClient(terminal, flags)]);
  const logger = createLineLogger({ write: (line) => terminal.err(line), now: () => systemClock.now() });
  const adopt = flags.adopt === true;
  const sync = createSecretSync({ platform, cluster, source, target, adopt, clock: systemClock, chance: systemChance, logger });
  try {
    await Promise.race([sync.start(), aborted(stop)]);
    await aborted(stop);
  } finally {
    await sync.stop();
    await Promise.all([platform.close(), cluster.close()]);
  }
}

/** Encodes binary values, which could disturb the terminal, and texts with several lines, which would look like further keys. */
function readable(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) && /^[^\p{Cc}]*$/u.test(text) ? `: ${text}` : ` (base64): ${base64}`;
}

function parseTarget(text: string): ObjectKey {
  const [namespace = "", name = "", ...more] = text.split("/");
  if (namespace !== "" && name !== "" && more.length === 0) return { namespace, name };
  throw new EngineError("USAGE", `--to expects NAMESPACE/NAME, found "${text}"`);
}

async function platformClient(terminal: Terminal, flags: SecretFlags): Promise<ClusterClient> {
  return createHttpClient({ kubeConfig: await platformConfig(terminal, flags), environment: terminal.env, clock: systemClock });
}

async function platformConfig(terminal: Terminal, { platformKubeconfig, platformUrl, platformCa }: SecretFlags): Promise<KubeConfig> {
  if (platformKubeconfig !== undefined) return loadKubeConfig({ path: platformKubeconfig });
  const token = terminal.env[ACCESS_KEY_VARIABLE];
  if (platformUrl === undefined || token === undefined || token === "") {
    throw new EngineError(
      "USAGE",
      `Specify the management API with --platform-kubeconfig, or with --platform-url and the key in ${ACCESS_KEY_VARIABLE}`,
    );
  }
  const address = platformUrl.replace(/\/+$/, "");
  const url = address.endsWith(BASE_PATH) ? address : `${address}${BASE_PATH}`;
  const caPem = platformCa === undefined ? {} : { caPem: await terminal.read(platformCa) };
  return loadKubeConfig({ text: formatKubeconfig({ name: "platform", url, token, ...caPem }) });
}

async function connectedClient({ env }: Terminal, { kubeconfig, context }: SecretSyncFlags): Promise<ClusterClient> {
  const source =
    kubeconfig === undefined
      ? { inCluster: true as const, environment: env }
      : { path: kubeconfig, ...(context !== undefined && { context }) };
  return createHttpClient({ kubeConfig: await loadKubeConfig(source), environment: env, clock: systemClock });
}
