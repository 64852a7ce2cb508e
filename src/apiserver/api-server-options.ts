import type { IncomingMessage } from "node:http";
import type { Chance } from "../base/chance.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Metrics } from "../base/metrics.ts";
import type { Authenticate } from "./access/authentication.ts";
import type { Audit } from "./access/audit.ts";
import type { Authorizer } from "./access/authorization.ts";
import type { VersionInfo } from "./documents/document-routes.ts";
import type { AddressOf } from "./http/client-address.ts";
import type { Exchange, OpenExchange } from "./http/exchange.ts";
import type { Registry } from "./verbs/registry.ts";
import type { ServerLimits } from "./http/limits/limits.ts";
import type { OnWatch, Visible, VisibleSince } from "./http/resource-routes.ts";
import type { UserInfo } from "./types/user-info.ts";

/** An API server's parts and where it listens. */
export interface ApiServerOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly authenticate: Authenticate;
  /**
   * Identifies the caller of a request again, from the current state of this process. Called when an object is read, at each write, and
   * when a watch begins. Throws like `authenticate`. Default: the caller stays the one that `authenticate` returned.
   */
  readonly known?: (request: IncomingMessage) => UserInfo;
  /**
   * Reports whether a user may make requests reserved for administrators; called once for each object. Default: the group `system:masters`.
   */
  readonly administers?: (user: UserInfo) => boolean;
  /** Decides what callers may do, impersonation included. Default: every known caller may do everything, but not impersonate. */
  readonly authorizer?: Authorizer;
  readonly version: VersionInfo;
  /** Certificate and key as PEM texts; plain HTTP when omitted. */
  readonly tls?: { readonly certPem: string; readonly keyPem: string };
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  readonly limits?: ServerLimits;
  /** Returns the origin of a request. Unknown callers share capacity by origin. Default: the address of the connection. */
  readonly addressOf?: AddressOf;
  /** Default: nothing is counted. */
  readonly metrics?: Metrics;
  /**
   * Path prefix of the Kubernetes API, for example `/kubernetes/management`. Health and version are also served without the prefix, and
   * `routes` handles `/.well-known/` with and without it. Default: no prefix.
   */
  readonly basePath?: string;
  /** Handles paths outside of the base path, without authentication. Returns false for unknown paths. */
  readonly routes?: (exchange: OpenExchange) => Promise<boolean>;
  /**
   * Handles paths below the base path that name no resource, once the authorizer has allowed the request. Returns the object of the
   * response, or undefined for an unknown path. Default: no such paths exist.
   */
  readonly ownDocuments?: (exchange: Exchange) => Promise<object | undefined>;
  /**
   * Selects the objects of a kind that are visible to a user. Lists, watches and the deletion of collections skip the others. A watch
   * reports an object that becomes invisible as DELETED. Default: every user sees all objects.
   */
  readonly visible?: Visible;
  /** Reports whether a watch may resume at an earlier state, with what a user could see then. Default: every watch may. */
  readonly visibleSince?: VisibleSince;
  /** Returns why `/readyz` and `/healthz` fail, if they do; called while the server serves. Must not reject. Default: they succeed. */
  readonly notReady?: () => Promise<string | undefined>;
  /** Returns the result of `/livez`: false if only a restart of the process helps. Default: true. */
  readonly isAlive?: () => boolean;
  /** Called for every watch before it opens, so that the watch can be ended. */
  readonly onWatch?: OnWatch;
  /** Runs once the server listens; requests wait for it. Default: nothing. */
  readonly onListening?: () => Promise<void>;
  /** Called for every request, refused ones included. Default: no audit. */
  readonly audit?: Audit;
}
