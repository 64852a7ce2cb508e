import { InvalidArgumentError, type Command } from "commander";
import { EngineError, messageOf } from "../../base/errors.ts";
import { readKeySet, type KeySource } from "../../cluster/tokens/platform-keys.ts";
import type { PlatformTrust } from "../../cluster/tokens/platform-tokens.ts";
import type { Target } from "../../cluster/scope/types.ts";
import type { Terminal } from "../process/terminal.ts";

/** The options of a cluster that accepts a platform's tokens, as commander parses them. */
export interface PlatformFlags {
  readonly platformIssuer?: string;
  readonly platformKeys?: string;
  readonly platformTarget?: Target;
}

/** Maximum length of a document of keys. */
const DOCUMENT_BYTES_MAX = 1_000_000;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** Adds the options for the platform whose tokens a cluster accepts. */
export function addPlatformFlags(command: Command): Command {
  return command
    .option("--platform-issuer <url>", "base URL of a platform whose tokens the cluster accepts", parseIssuer)
    .option("--platform-keys <file-or-url>", "the platform's published keys (JWKS); read again when a token names an unknown key")
    .option("--platform-target <target>", "name of the cluster in the platform: cluster=NAME or virtualCluster=PROJECT/NAME", parseTarget);
}

function parseIssuer(text: string): string {
  if (/^https?:\/\/[^\s/]/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError("Expected the URL that the platform's tokens name as issuer.");
}

function parseTarget(text: string): Target {
  const [, cluster, project, virtualCluster] = /^(?:cluster=([^/=\s]+)|virtualCluster=([^/=\s]+)\/([^/=\s]+))$/.exec(text) ?? [];
  if (cluster !== undefined) return { kind: "cluster", cluster };
  if (project !== undefined) return { kind: "virtualCluster", project, virtualCluster: virtualCluster! };
  throw new InvalidArgumentError("Expected cluster=NAME or virtualCluster=PROJECT/NAME.");
}

/**
 * Reads the options for the issuer whose tokens the cluster accepts; undefined without such options. A file with keys is read immediately,
 * so that its errors are reported at startup.
 *
 * @throws USAGE when only some of the options are specified, or keys would be sent over an insecure network; CONFIG_SYNTAX when the file is
 *   not JSON; errors of `readTextFile` and `readKeySet`.
 */
export async function readPlatformFlags(flags: PlatformFlags, terminal: Pick<Terminal, "read">): Promise<PlatformTrust | undefined> {
  const { platformIssuer: issuer, platformKeys: place, platformTarget: target } = flags;
  if (issuer === undefined && place === undefined && target === undefined) return undefined;
  if (issuer === undefined || place === undefined || target === undefined) {
    throw new EngineError("USAGE", "--platform-issuer, --platform-keys and --platform-target must be specified together");
  }
  return { issuer, target, keys: await keySource(place, terminal) };
}

async function keySource(place: string, terminal: Pick<Terminal, "read">): Promise<PlatformTrust["keys"]> {
  if (/^https?:\/\//i.test(place)) return remoteKeys(place);
  const read = async () => parseDocument(await terminal.read(place), place);
  const first = await read();
  readKeySet(first);
  // Standard input can be read once only.
  return place === "-" ? (first as object) : read;
}

function remoteKeys(place: string): KeySource {
  const { protocol, hostname } = new URL(place);
  if (protocol === "http:" && !LOOPBACK.test(hostname)) {
    const details = {
      hint: "Keys sent without TLS can be replaced in transit, so others could sign tokens. Use https, or a file",
    };
    throw new EngineError("USAGE", "--platform-keys must not be read over plain HTTP", { details });
  }
  return async (signal) => {
    const answer = await fetch(place, { signal, redirect: "error" });
    if (!answer.ok) throw new Error(`the response was ${answer.status}`);
    return parseDocument(await textOf(answer), place);
  };
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk as Uint8Array);
    length += (chunk as Uint8Array).length;
    if (length > DOCUMENT_BYTES_MAX) throw new Error(`the response is longer than ${DOCUMENT_BYTES_MAX} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseDocument(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new EngineError("CONFIG_SYNTAX", `Cannot read "${place}": it is not JSON: ${messageOf(error)}`, { cause: error });
  }
}
