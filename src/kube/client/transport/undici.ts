/**
 * The part of undici that this package uses. The package's own entry also loads fetch, WebSocket, caches and mocks: 74 more files, which
 * cost 12 MB of memory and more than half of the time that loading takes.
 *
 * These files are not a documented interface of undici, so only patch releases of one version are accepted.
 *
 * @module
 */
import type {
  buildConnector as BuildConnectorType,
  DecoratorHandler as DecoratorHandlerType,
  Pool as PoolType,
  ProxyAgent as ProxyAgentType,
} from "undici";
import methods from "undici/lib/api/index.js";
import connector from "undici/lib/core/connect.js";
import dispatcher from "undici/lib/dispatcher/dispatcher.js";
import pool from "undici/lib/dispatcher/pool.js";
import proxyAgent from "undici/lib/dispatcher/proxy-agent.js";
import decoratorHandler from "undici/lib/handler/decorator-handler.js";

// The class has no methods such as `request`: the package's entry adds them in this way.
Object.assign(dispatcher.prototype, methods);

/** Creates a function that opens connections. */
export const buildConnector: typeof BuildConnectorType = connector;
/** Connections to one origin. */
export const Pool: typeof PoolType = pool;
/** Connections through a proxy. */
export const ProxyAgent: typeof ProxyAgentType = proxyAgent;
/** A handler that wraps another one. */
export const DecoratorHandler: typeof DecoratorHandlerType = decoratorHandler;
