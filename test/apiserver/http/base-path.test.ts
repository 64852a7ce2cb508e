import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import type { ApiServerOptions } from "../../../src/apiserver/api-server-options.ts";
import { LOCKS_PATH, startLockServer } from "../support/lock-server.ts";

const BASE = "/kubernetes/management";
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function start(options: Partial<ApiServerOptions> = {}) {
  return (await startServer(options)).raw;
}

async function startServer(options: Partial<ApiServerOptions> = {}) {
  const started = await startLockServer({ basePath: BASE, ...options });
  cleanups.push(started.close);
  return started;
}

describe("a server with a base path", () => {
  test("serves resources and documents below it, and nothing of them outside", async () => {
    const raw = await start();
    expect((await raw.send("POST", `${BASE}${LOCKS_PATH}`, { body: { metadata: { name: "a" } } })).code).toBe(201);
    const paths = [`${LOCKS_PATH}/a`, "/apis", "/api", "/apis/example.com/v1", "/openapi/v3", "", "/"];
    const inside = await Promise.all(paths.map(async (path) => (await raw.send("GET", `${BASE}${path}`)).code));
    const outside = await Promise.all(paths.map(async (path) => (await raw.send("GET", path || "/kubernetes/managementx")).code));
    expect([inside, outside]).toEqual([paths.map(() => 200), paths.map(() => 404)]);
  });

  test("serves health and version at both places, to every caller", async () => {
    const raw = await start();
    const headers = { "x-user": "nobody" };
    for (const path of ["/healthz", "/readyz", "/livez", "/version"]) {
      expect([(await raw.send("GET", path, { headers })).code, (await raw.send("GET", `${BASE}${path}`, { headers })).code]).toEqual([
        200, 200,
      ]);
    }
    expect((await raw.send("GET", `${BASE}/apis`, { headers })).code).toBe(401);
  });

  test("serves what a proxy asks for by a whole URL", async () => {
    const { port } = (await startServer()).server;
    const codeOf = async (path: string) => {
      const [response] = (await once(request({ host: "127.0.0.1", port, path }).end(), "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    expect([await codeOf(`http://platform:8080${BASE}/apis`), await codeOf("http://platform:8080/apis")]).toEqual([200, 404]);
  });

  test("names its documents by their whole addresses", async () => {
    const raw = await start();
    const { json } = await raw.send("GET", `${BASE}/openapi/v3`);
    const url = (json["paths"] as unknown as Record<string, { serverRelativeURL: string }>)["apis/example.com/v1"]!.serverRelativeURL;
    expect(url.startsWith(`${BASE}/openapi/v3/apis/example.com/v1?hash=`)).toBe(true);
    expect((await raw.send("GET", url)).code).toBe(200);
    const moved = await raw.send("GET", `${BASE}/openapi/v3/apis/example.com/v1?hash=OLD`);
    expect([moved.code, moved.headers["location"]]).toEqual([301, url]);
    expect((await raw.send("GET", BASE)).json["paths"]).toContain(`${BASE}/apis/example.com/v1`);
  });

  test("names no version of the core group where no kind is in it", async () => {
    const raw = await start();
    expect((await raw.send("GET", `${BASE}/api`)).json).toMatchObject({ kind: "APIVersions", versions: [] });
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    expect((await raw.send("GET", `${BASE}/api`, { headers: { accept } })).json).toMatchObject({
      kind: "APIGroupDiscoveryList",
      items: [],
    });
  });

  test("asks for permissions without it", async () => {
    const asked: string[] = [];
    const raw = await start({
      authorizer: {
        decide(_user, attributes) {
          asked.push("path" in attributes ? attributes.path : attributes.resource);
          return { allowed: true, reason: "" };
        },
        rulesFor: () => [],
      },
    });
    await raw.send("GET", `${BASE}${LOCKS_PATH}`);
    await raw.send("GET", `${BASE}/apis`);
    // A list is authorized again after the read.
    expect(asked).toEqual(["locks", "locks", "/apis"]);
  });

  test("leaves other paths to others, without asking who it is", async () => {
    const raw = await start({
      async routes({ path, query, method, response }) {
        if (!path.startsWith("/sign-in")) return false;
        response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ path, method, step: query.get("step") }));
        return true;
      },
    });
    const { code, json } = await raw.send("POST", "/sign-in/password?step=2", { headers: { "x-user": "nobody" }, body: {} });
    expect([code, json]).toEqual([200, { path: "/sign-in/password", method: "POST", step: "2" }]);
    expect((await raw.send("GET", "/sign-out")).json).toMatchObject({ kind: "Status", code: 404 });
    expect((await raw.send("GET", "/healthz")).code).toBe(200);
    expect((await raw.send("GET", `${BASE}/sign-in`)).code).toBe(404);
  });
});
