/**
 * Credentials of requests, kept up to date: certificates and tokens are read from their files every minute. Plugins run when their
 * credential is about to expire or was refused, and never twice at the same time.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import type { Cluster, KubeConfig, User } from "@kubernetes/client-node";
import type { Clock } from "../../../base/clock.ts";
import { EngineError, messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import type { Connection, KubeConfigView } from "../connection.ts";
import { runExecPlugin, type ExecCredential, type ExecSpec } from "./exec-plugin.ts";
import { asClientNode, authenticateByProvider } from "./provider-auth.ts";

/** Certificates and key of a TLS connection, as PEM. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly rejectUnauthorized?: boolean;
  readonly servername?: string;
}

/** Headers and certificates of a request. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

/** Options for obtaining credentials. */
export interface CredentialOptions {
  readonly kubeConfig: KubeConfigView;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The environment that plugins inherit. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly pluginTimeoutMs: number;
  /** Kills a running plugin. */
  readonly signal: AbortSignal;
}

/** Interval for reading files again, as in client-go. */
const REREAD_MS = 60_000;
/** Interval for asking other providers again; they have caches of their own. */
const PROVIDER_REREAD_MS = 10_000;
/** Time before expiry at which a credential is replaced. */
const EXPIRY_SKEW_MS = 30_000;
/** Minimum interval for a plugin whose credentials are about to expire when they arrive. */
const PLUGIN_INTERVAL_MS = 1_000;
/** Minimum interval for a plugin whose credentials are refused. */
const PLUGIN_REST_MS = 5_000;

/** Provides the credentials of one kubeconfig context, and reads or requests them again when necessary. */
export class CredentialSource {
  readonly #options: CredentialOptions;
  readonly #user: Partial<User>;
  readonly #files: FileReader;
  #known: Credentials | undefined;
  /** Monotonic time until which `#known` is valid. */
  #knownUntilMs = 0;
  #reading: Promise<Credentials> | undefined;
  /** Kept, because its authenticators cache their credentials. */
  #provider: KubeConfig | undefined;
  #plugin: { readonly credential: ExecCredential; readonly ranMs: number } | undefined;

  constructor(options: CredentialOptions) {
    this.#options = options;
    // No secret is sent over an unencrypted connection that leaves this machine.
    this.#user = options.connection.trusted ? (options.connection.user ?? {}) : {};
    this.#files = new FileReader(options.logger);
    if (!options.connection.trusted && options.connection.user !== undefined) {
      options.logger.warn("No credentials are sent over plain http", { server: options.connection.origin });
    }
  }

  /** The credentials to use now; undefined when they must be read. Separate from {@link read} because most requests need no promise. */
  peek(): Credentials | undefined {
    return this.#options.clock.monotonic() < this.#knownUntilMs ? this.#known : undefined;
  }

  /**
   * Reads the credentials. Concurrent callers share one read.
   *
   * @throws CONFIG_FILE when a file cannot be read and never could; API_UNAUTHORIZED when a plugin or provider fails.
   */
  read(): Promise<Credentials> {
    this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /**
   * Reports that the server refused `used` or could not be reached. Files are then read again; after a refusal, a plugin also runs again.
   */
  invalidate(used: Credentials, why: "refused" | "unreachable"): void {
    if (used !== this.#known) return;
    this.#knownUntilMs = 0;
    const rested = this.#plugin !== undefined && this.#options.clock.monotonic() - this.#plugin.ranMs >= PLUGIN_REST_MS;
    if (why === "refused" && rested) this.#plugin = undefined;
  }

  async #readAll(): Promise<Credentials> {
    const { connection, clock } = this.#options;
    const user = this.#user;
    const [tls, own] = await Promise.all([this.#tlsOf(connection.cluster), this.#authenticate()]);
    const impersonate: Record<string, string> = user.impersonateUser ? { "impersonate-user": user.impersonateUser } : {};
    this.#known = { headers: { ...own.headers, ...impersonate }, tls: { ...tls, ...own.tls } };
    this.#knownUntilMs = clock.monotonic() + Math.min(own.validMs, this.#files.used ? REREAD_MS : Infinity);
    return this.#known;
  }

  async #tlsOf(cluster: Cluster): Promise<TlsMaterial> {
    const user = this.#user;
    const [ca, cert, key] = await Promise.all([
      this.#files.bytes(cluster.caFile, cluster.caData),
      this.#files.bytes(user.certFile, user.certData),
      this.#files.bytes(user.keyFile, user.keyData),
    ]);
    return {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(cluster.skipTLSVerify && { rejectUnauthorized: false }),
      ...(cluster.tlsServerName && { servername: cluster.tlsServerName }),
    };
  }

  /** Uses the first method that is configured. A token in a file takes precedence over one in the kubeconfig, as in client-go. */
  async #authenticate(): Promise<Authentication> {
    const { token, username, password = "", authProvider, exec } = this.#user;
    const tokenFile = authProvider?.config?.tokenFile as string | undefined;
    if (tokenFile) return forGood(bearer((await this.#files.bytes(tokenFile, undefined))!.toString("utf8").trim()));
    if (token) return forGood(bearer(token));
    const plugin = (exec ?? authProvider?.config?.exec) as ExecSpec | undefined;
    if (plugin) return this.#authenticateByPlugin(plugin);
    if (authProvider) return this.#authenticateByProvider();
    if (username) return forGood({ authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` });
    return forGood({});
  }

  async #authenticateByProvider(): Promise<Authentication> {
    const { kubeConfig, connection } = this.#options;
    this.#provider ??= await asClientNode(kubeConfig);
    return { headers: await authenticateByProvider({ kubeConfig: this.#provider, connection }), tls: {}, validMs: PROVIDER_REREAD_MS };
  }

  async #authenticateByPlugin(exec: ExecSpec): Promise<Authentication> {
    if (this.#plugin === undefined || this.#pluginValidMs() <= 0) await this.#runPlugin(exec);
    const { token, certificate, key } = this.#plugin!.credential;
    const tls = certificate && key ? { cert: Buffer.from(certificate), key: Buffer.from(key) } : {};
    return { headers: token ? bearer(token) : {}, tls, validMs: this.#pluginValidMs() };
  }

  async #runPlugin(exec: ExecSpec): Promise<void> {
    const { clock, environment, pluginTimeoutMs, signal, connection, logger } = this.#options;
    const { server, caData, tlsServerName, skipTLSVerify } = connection.cluster;
    const cluster = {
      server,
      "certificate-authority-data": caData,
      "tls-server-name": tlsServerName,
      "insecure-skip-tls-verify": skipTLSVerify || undefined,
    };
    try {
      const credential = await runExecPlugin({ exec, environment, cluster, clock, timeoutMs: pluginTimeoutMs, signal });
      this.#plugin = { credential, ranMs: clock.monotonic() };
    } catch (error) {
      // The plugin runs early, so that a failure has no effect while the old credential is valid.
      const last = this.#plugin?.credential;
      if (last?.expiresAt === undefined || last.expiresAt <= clock.now()) throw error;
      logger.warn("Credential plugin failed; its last credential is used until it expires", { error: messageOf(error) });
      this.#plugin = { credential: last, ranMs: clock.monotonic() };
    }
  }

  /** Remaining time for which the plugin's credential is used, in milliseconds. */
  #pluginValidMs(): number {
    const { credential, ranMs } = this.#plugin!;
    if (credential.expiresAt === undefined) return Infinity;
    const { clock } = this.#options;
    return Math.max(credential.expiresAt - EXPIRY_SKEW_MS - clock.now(), ranMs + PLUGIN_INTERVAL_MS - clock.monotonic());
  }
}

interface Authentication extends Credentials {
  /** Time for which the credentials can be used without reading them again, in milliseconds. */
  readonly validMs: number;
}

function forGood(headers: Record<string, string>): Authentication {
  return { headers, tls: {}, validMs: Infinity };
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Reads small files and caches them. While a file cannot be read, for example because it is being replaced, its last content is used. */
class FileReader {
  readonly #logger: Logger;
  readonly #last = new Map<string, Buffer>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** True once any file was read, so that files must be read again. */
  get used(): boolean {
    return this.#last.size > 0;
  }

  /** The bytes of `file`, or those of base64 `data`, or undefined when neither is set. */
  async bytes(file: string | undefined, data: string | undefined): Promise<Buffer | undefined> {
    if (!file) return data ? Buffer.from(data, "base64") : undefined;
    try {
      const bytes = await readFile(file);
      this.#last.set(file, bytes);
      return bytes;
    } catch (error) {
      return this.#lastBytes(file, error);
    }
  }

  #lastBytes(file: string, cause: unknown): Buffer {
    const last = this.#last.get(file);
    if (last === undefined)
      throw new EngineError("CONFIG_FILE", `Cannot read "${file}", which the kubeconfig refers to: ${messageOf(cause)}`, { cause });
    this.#logger.warn("Credential file cannot be read again; its last content is used", { file, error: messageOf(cause) });
    return last;
  }
}
