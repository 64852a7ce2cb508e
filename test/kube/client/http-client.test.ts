/**
 * The HTTP client call by call: its requests, and the handling of answers.
 */
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createHttpClient } from "../../../src/kube/client/http-client.ts";
import { loadKubeConfig } from "../../../src/kube/client/kube-config.ts";
import { ENDPOINTS, NAMESPACES } from "../../../src/kube/object/resource.ts";
import { failure, json, type Script } from "../../support/scripted-server.ts";
import { closeAfterTest, CALLS, KEY, createWorld, db } from "./http-world.ts";

describe("requests", () => {
  test.each([
    { call: "get", want: "GET /api/v1/namespaces/shop/endpoints/db", body: "" },
    { call: "create", want: "POST /api/v1/namespaces/shop/endpoints", body: JSON.stringify(db) },
    { call: "update", want: "PUT /api/v1/namespaces/shop/endpoints/db", body: JSON.stringify(db) },
    { call: "patch", want: "PATCH /api/v1/namespaces/shop/endpoints/db", body: "{}" },
    { call: "delete", want: "DELETE /api/v1/namespaces/shop/endpoints/db", body: '{"kind":"DeleteOptions","apiVersion":"v1"}' },
  ])("$call is $want", async ({ call, want, body }) => {
    const { server, client } = await createWorld((_, response) => json(response, db));
    await CALLS[call]!(client);
    const [request] = server.requests;
    expect(`${request!.method} ${request!.path}`).toBe(want);
    expect(request!.body).toBe(body);
    expect(request!.headers).toMatchObject({ accept: "application/json", "user-agent": "endpoint-sync" });
  });

  test("carry the content type of each patch", async () => {
    const { server, client } = await createWorld((_, response) => json(response, db));
    await client.patch(ENDPOINTS, KEY, "json", []);
    await client.patch(ENDPOINTS, KEY, "merge", {});
    await client.create(ENDPOINTS, db);
    expect(server.requests.map(({ headers }) => headers["content-type"])).toEqual([
      "application/json-patch+json",
      "application/merge-patch+json",
      "application/json",
    ]);
  });

  test("to delete carry the preconditions", async () => {
    const { server, client } = await createWorld((_, response) => json(response, db));
    expect(await client.delete(ENDPOINTS, KEY, { uid: "1", resourceVersion: "5" })).toBe("deleted");
    expect(JSON.parse(server.requests[0]!.body)).toMatchObject({ preconditions: { uid: "1", resourceVersion: "5" } });
  });

  test("go below the path of the server's address", async () => {
    const { server } = await createWorld((_, response) => json(response, db));
    const kubeConfig = await loadKubeConfig({ text: server.kubeconfig({}, { server: `${server.url}/k8s/clusters/blue` }) });
    const client = createHttpClient({ kubeConfig, clock: systemClock });
    closeAfterTest(client);
    await client.get(ENDPOINTS, KEY);
    expect(server.requests[0]!.path).toBe("/k8s/clusters/blue/api/v1/namespaces/shop/endpoints/db");
  });

  test("to list name the page, the selectors and a state that may be newer", async () => {
    const { server, client } = await createWorld((_, response) =>
      json(response, { kind: "EndpointsList", metadata: { resourceVersion: "9" }, items: [] }),
    );
    await client.list(ENDPOINTS, {
      namespace: "shop",
      labelSelector: "a=b",
      fieldSelector: "metadata.name=db",
      limit: 2,
      resourceVersion: "7",
    });
    await client.list(ENDPOINTS, { limit: 2, continue: "next" });
    expect(server.requests.map(({ path, query }) => ({ path, ...Object.fromEntries(query) }))).toEqual([
      {
        path: "/api/v1/namespaces/shop/endpoints",
        labelSelector: "a=b",
        fieldSelector: "metadata.name=db",
        limit: "2",
        resourceVersion: "7",
        resourceVersionMatch: "NotOlderThan",
      },
      { path: "/api/v1/endpoints", limit: "2", continue: "next" },
    ]);
  });

  test("to update an object without a resourceVersion are not sent: the server would overwrite anything", async () => {
    const { server, client } = await createWorld((_, response) => json(response, db));
    await expect(client.update(ENDPOINTS, { ...db, metadata: KEY })).rejects.toMatchObject({ code: "INTERNAL" });
    expect(server.requests).toEqual([]);
  });
});

describe("answers", () => {
  test("of a list have apiVersion and kind on every item", async () => {
    const body = {
      kind: "EndpointsList",
      metadata: { resourceVersion: "9", continue: "next" },
      items: [{ metadata: { name: "db" } }, { metadata: { name: "web" } }],
    };
    const { client } = await createWorld((_, response) => json(response, body));
    expect(await client.list(ENDPOINTS)).toEqual({
      items: ["db", "web"].map((name) => ({ apiVersion: "v1", kind: "Endpoints", metadata: { name } })),
      resourceVersion: "9",
      continue: "next",
      textLength: JSON.stringify(body).length,
    });
  });

  test.each([{ items: null }, { items: [] }])("that list nothing are an empty list: %j", async (body) => {
    const { client } = await createWorld((_, response) =>
      json(response, { kind: "EndpointsList", metadata: { resourceVersion: "9", continue: "" }, ...body }),
    );
    expect(await client.list(ENDPOINTS)).toEqual({ items: [], resourceVersion: "9", textLength: expect.any(Number) as number });
  });

  test.each([
    {},
    { items: [] },
    { metadata: { resourceVersion: "9" } },
    { kind: "EndpointsList", metadata: { resourceVersion: "9" }, items: {} },
    { kind: "EndpointsList", metadata: { resourceVersion: "9" }, items: [null] },
    { kind: "EndpointsList", metadata: { resourceVersion: "9" }, items: [{ metadata: {} }] },
    { kind: "ServiceList", metadata: { resourceVersion: "9" }, items: [] },
    { kind: "EndpointsList", metadata: {}, items: [] },
  ])("that are not a list are API_UNAVAILABLE: %j", async (body) => {
    const { client } = await createWorld((_, response) => json(response, body));
    await expect(client.list(ENDPOINTS)).rejects.toMatchObject({ code: "API_UNAVAILABLE" });
  });

  test("404 of an absent object is a value", async () => {
    const { client } = await createWorld((_, response) => failure(response, 404, "NotFound"));
    expect(await client.get(ENDPOINTS, KEY)).toBeUndefined();
    expect(await client.delete(ENDPOINTS, KEY)).toBe("absent");
    await expect(client.update(ENDPOINTS, db)).rejects.toMatchObject({ code: "API_NOT_FOUND" });
    await expect(client.create(ENDPOINTS, db)).rejects.toMatchObject({ code: "API_NOT_FOUND" });
  });

  test("404 of an absent resource is an error for every caller", async () => {
    const { client } = await createWorld((_, response) => void response.writeHead(404).end("404 page not found\n"));
    for (const call of Object.values(CALLS)) await expect(call(client)).rejects.toMatchObject({ code: "API_NOT_FOUND" });
  });

  test.each([
    { code: 409, reason: "Conflict", want: "API_CONFLICT" },
    { code: 409, reason: "AlreadyExists", want: "API_ALREADY_EXISTS" },
    { code: 422, reason: "Invalid", want: "API_INVALID" },
    { code: 403, reason: "Forbidden", want: "API_FORBIDDEN" },
    { code: 410, reason: "Expired", want: "API_EXPIRED" },
    { code: 429, reason: "TooManyRequests", want: "API_TOO_MANY_REQUESTS" },
    { code: 500, reason: "InternalError", want: "API_UNAVAILABLE" },
  ])("$code $reason is $want, asked for once only", async ({ code, reason, want }) => {
    const { server, client } = await createWorld((_, response) => failure(response, code, reason, { "retry-after": "4" }));
    for (const call of Object.values(CALLS)) {
      await expect(call(client)).rejects.toMatchObject({ code: want, message: `scripted ${reason}`, details: { retryAfterSeconds: 4 } });
    }
    expect(server.requests).toHaveLength(Object.keys(CALLS).length);
  });

  test("of a proxy in HTML are API_UNAVAILABLE, with an error status or without", async () => {
    for (const status of [502, 200]) {
      const { client } = await createWorld(
        (_, response) => void response.writeHead(status, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
      );
      for (const call of Object.keys(CALLS).filter((name) => name !== "delete")) {
        await expect(CALLS[call]!(client)).rejects.toMatchObject({
          code: "API_UNAVAILABLE",
          message: expect.stringContaining("Bad gateway") as string,
        });
      }
    }
  });

  test("that are larger than the limit are refused", async () => {
    const { client } = await createWorld((_, response) => json(response, { ...db, big: "x".repeat(5_000) }), { answerBytesMax: 2_000 });
    await expect(client.get(ENDPOINTS, KEY)).rejects.toMatchObject({
      code: "API_ERROR",
      message: expect.stringContaining("limit") as string,
    });
  });

  test("with a Warning are logged once for each text", async () => {
    const script: Script = ({ method }, response) => json(response, db, 200, { warning: `299 - "${method} is deprecated"` });
    const { client, lines } = await createWorld(script);
    for (let i = 0; i < 3; i++) await client.get(ENDPOINTS, KEY);
    await client.update(ENDPOINTS, db);
    expect(lines.map((line) => /"299 - .*deprecated/.exec(line)?.[0])).toEqual([
      '"299 - \\"GET is deprecated',
      '"299 - \\"PUT is deprecated',
    ]);
  });

  test("are counted as client-go counts them", async () => {
    const { server, client, metrics } = await createWorld(({ path }, response) =>
      path.endsWith("db") ? json(response, db) : failure(response, 503, "ServiceUnavailable"),
    );
    await client.get(ENDPOINTS, KEY);
    await client.get(ENDPOINTS, KEY);
    await client.list(ENDPOINTS).catch(() => undefined);
    const value = (code: string) => metrics.value("rest_client_requests_total", { code, method: "GET", host: server.url });
    expect([value("200"), value("503")]).toEqual([2, 1]);
    await server.shut();
    await client.get(ENDPOINTS, KEY).catch(() => undefined);
    expect(value("<error>")).toBeGreaterThan(0);
  });
});

test("a cluster-scoped object is found without a namespace", async () => {
  const { server, client } = await createWorld((_, response) =>
    json(response, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } }),
  );
  await client.get(NAMESPACES, { namespace: "", name: "shop" });
  expect(server.requests[0]!.path).toBe("/api/v1/namespaces/shop");
});
