/** A server of locks over HTTP that believes what headers say: `x-user` names the user, `x-groups` the user's groups. */
import { silentLogger } from "../../../src/base/logger.ts";
import { systemChance } from "../../../src/base/chance.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { startApiServer, type ApiServer } from "../../../src/apiserver/api-server.ts";
import type { ApiServerOptions } from "../../../src/apiserver/api-server-options.ts";
import { createMemoryStore } from "../../../src/apiserver/store/memory/memory-store.ts";
import { createRegistry, type Registry } from "../../../src/apiserver/verbs/registry.ts";
import type { ResourceDefinition } from "../../../src/apiserver/types/resource-definition.ts";
import { createRawClient, type RawClient } from "../../conformance/raw-client.ts";
import { createLocks } from "./locks-kind.ts";

/** The server and what to reach it with. */
export interface LockServer {
  readonly raw: RawClient;
  readonly registry: Registry;
  readonly server: ApiServer;
  close(): Promise<void>;
}

/** Where its locks are. */
export const LOCKS_PATH = "/apis/example.com/v1/namespaces/shop/locks";

/** Starts one. Without `x-user` the user is jane; one name is unknown to the server. */
export async function startLockServer(
  options: Partial<ApiServerOptions> = {},
  definition: ResourceDefinition = createLocks(),
): Promise<LockServer> {
  const registry = createRegistry({ store: createMemoryStore(), definitions: [definition], clock: systemClock, chance: systemChance });
  const server = await startApiServer({
    registry,
    clock: systemClock,
    chance: systemChance,
    logger: silentLogger,
    version: { major: "1", minor: "34", gitVersion: "v1.34.0" },
    async authenticate({ headers }) {
      const [name, groups] = [String(headers["x-user"] ?? "jane"), String(headers["x-groups"] ?? "")];
      return name === "nobody" ? undefined : { name, groups: groups === "" ? [] : groups.split(",") };
    },
    ...options,
  });
  const raw = createRawClient({ url: `http://127.0.0.1:${server.port}` });
  return {
    raw,
    registry,
    server,
    async close() {
      await raw.close();
      await server.close();
    },
  };
}
