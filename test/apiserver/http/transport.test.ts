/**
 * The small parts between HTTP and the registry.
 */
import * as fc from "fast-check";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { decodeContinue, encodeContinue } from "../../../src/apiserver/verbs/read/continue-token.ts";
import { createInFlight, sharedBy } from "../../../src/apiserver/http/limits/in-flight.ts";
import { negotiate, parseAccept } from "../../../src/apiserver/http/answer/negotiation.ts";
import { readDeleteParameters, readFlag } from "../../../src/apiserver/http/query.ts";
import { parsePlace, parseTarget, useOriginForm } from "../../../src/apiserver/http/request-target.ts";
import { Warnings } from "../../../src/apiserver/http/warnings.ts";
import { yamlParts } from "../../../src/apiserver/http/answer/yaml-text.ts";

describe("places", () => {
  const BASE = "/kubernetes/management";

  test.each([
    { url: "/api?a=1?b", base: "", want: { path: "/api", inside: true, open: false, search: "a=1?b" } },
    { url: "*", base: "", want: { path: "*", inside: true, open: false, search: "" } },
    { url: "/.well-known/a", base: "", want: { path: "/.well-known/a", inside: true, open: false, search: "" } },
    { url: "/livez/ping", base: "", want: { path: "/livez/ping", inside: true, open: true, search: "" } },
    { url: "/livez/ping/more", base: "", want: { path: "/livez/ping/more", inside: true, open: false, search: "" } },
    { url: BASE, base: BASE, want: { path: "/", inside: true, open: false, search: "" } },
    { url: `${BASE}/version?`, base: BASE, want: { path: "/version", inside: true, open: true, search: "" } },
    { url: `${BASE}/.well-known/a`, base: BASE, want: { path: "/.well-known/a", inside: false, open: false, search: "" } },
    { url: `${BASE}s/api`, base: BASE, want: { path: `${BASE}s/api`, inside: false, open: false, search: "" } },
    { url: "/readyz", base: BASE, want: { path: "/readyz", inside: false, open: true, search: "" } },
  ])("$url below '$base'", ({ url, base, want }) => {
    expect(parsePlace(url, base)).toEqual(want);
  });
});

test.each([
  ["http://platform:8080/api/v1?limit=1", "/api/v1?limit=1", "platform:8080"],
  ["HTTPS://jane:secret@[::1]/api", "/api", "[::1]"],
  ["http://platform?limit=1", "/?limit=1", "platform"],
  ["http://platform", "/", "platform"],
  ["/http://platform/api", "/http://platform/api", "127.0.0.1"],
  ["*", "*", "127.0.0.1"],
])("the target %s leads to %s of %s", (url, path, host) => {
  const request = { url, headers: { host: "127.0.0.1" } };
  useOriginForm(request);
  expect(request).toEqual({ url: path, headers: { host } });
});

describe("paths", () => {
  const target = (path: string) => {
    const found = parseTarget(path);
    return found && Object.fromEntries(Object.entries(found).filter(([, value]) => value !== "" && value !== false));
  };

  test.each([
    { path: "/api/v1/endpoints", want: { apiVersion: "v1", plural: "endpoints" } },
    { path: "/api/v1/namespaces", want: { apiVersion: "v1", plural: "namespaces" } },
    { path: "/api/v1/namespaces/shop", want: { apiVersion: "v1", plural: "namespaces", name: "shop" } },
    { path: "/api/v1/namespaces/shop/status", want: { apiVersion: "v1", plural: "namespaces", name: "shop", subresource: "status" } },
    { path: "/api/v1/namespaces/shop/finalize", want: { apiVersion: "v1", plural: "namespaces", name: "shop", subresource: "finalize" } },
    { path: "/api/v1/namespaces/shop/endpoints", want: { apiVersion: "v1", plural: "endpoints", namespace: "shop" } },
    { path: "/api/v1/namespaces/shop/endpoints/db", want: { apiVersion: "v1", plural: "endpoints", namespace: "shop", name: "db" } },
    { path: "/api/v1/namespaces/shop/pods/a/status", want: { apiVersion: "v1", plural: "pods", namespace: "shop", name: "a", subresource: "status" } }, // prettier-ignore
    { path: "/api/v1/nodes/a/status", want: { apiVersion: "v1", plural: "nodes", name: "a", subresource: "status" } },
    { path: "/apis/apps/v1/namespaces/shop/deployments", want: { apiVersion: "apps/v1", plural: "deployments", namespace: "shop" } },
    { path: "/api/v1/watch/namespaces/shop/pods", want: { apiVersion: "v1", plural: "pods", namespace: "shop", watch: true } },
    { path: "/api/v1/namespaces/a%2Eb/pods", want: { apiVersion: "v1", plural: "pods", namespace: "a.b" } },
    { path: "/api/v1", want: undefined },
    { path: "/apis/apps/v1", want: undefined },
    { path: "/apis/apps", want: undefined },
    { path: "/version", want: undefined },
    { path: "/", want: undefined },
    { path: "/api/v1//pods", want: undefined },
    { path: "/api/v1/pods/", want: undefined },
    { path: "/api/apps%2Fv1/deployments", want: undefined },
    { path: "/api/v1/namespaces/shop/pods/a/status/more", want: undefined },
  ])("$path", ({ path, want }) => {
    expect(target(path)).toEqual(want);
  });

  test("a broken escape is a bad request", () => {
    expect(() => parseTarget("/api/v1/pods/%zz")).toThrow(/cannot be decoded/);
  });
});

describe("negotiation", () => {
  const table = { g: "meta.k8s.io", v: "v1", as: "Table" };
  const offers = [
    { type: "application/json", value: "json" },
    { type: "application/json", as: table, value: "table" },
    { type: "application/yaml", value: "yaml" },
  ];

  test.each([
    { header: undefined, want: "json" },
    { header: "*/*", want: "json" },
    { header: "application/*", want: "json" },
    { header: "application/yaml", want: "yaml" },
    { header: "application/json;q=0.1, application/yaml;q=0.9", want: "yaml" },
    { header: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", want: "table" },
    { header: "application/json;as=Table;v=v9;g=meta.k8s.io,application/json", want: "json" },
    { header: "application/vnd.kubernetes.protobuf,application/json", want: "json" },
    { header: "application/json; charset=utf-8", want: "json" },
    { header: "application/json;q=0, application/yaml", want: "yaml" },
  ])("$header is answered with $want", ({ header, want }) => {
    expect(negotiate(header, offers)).toBe(want);
  });

  test("a form that is not offered is 406, with the list of offered ones", () => {
    expect(() => negotiate("application/vnd.kubernetes.protobuf", offers)).toThrow(
      "only the following media types are accepted: application/json, application/yaml",
    );
  });

  test("a header of a million commas is read in part", () => {
    expect(parseAccept(",a/b".repeat(1_000_000)).length).toBeLessThanOrEqual(64);
  });
});

describe("continue tokens", () => {
  test("say again what they were made of", () => {
    fc.assert(
      fc.property(fc.option(fc.integer({ min: 1 }), { nil: undefined }), fc.string({ minLength: 1 }), (revision, start) => {
        expect(decodeContinue(encodeContinue({ revision, start }))).toEqual({ revision, start });
      }),
    );
  });

  test.each(["", "x", "e30", "bnVsbA", Buffer.from('{"v":"meta.k8s.io/v1","rv":1}').toString("base64url")])("%j is refused", (text) => {
    expect(() => decodeContinue(text)).toThrow(/continue key is not valid/);
  });
});

describe("parameters", () => {
  test.each([
    { query: "", want: undefined },
    { query: "watch", want: true },
    { query: "watch=1", want: true },
    { query: "watch=true", want: true },
    { query: "watch=false", want: false },
    { query: "watch=0", want: false },
  ])("?$query is $want", ({ query, want }) => {
    expect(readFlag(new URLSearchParams(query), "watch")).toBe(want);
  });

  test.each([
    {
      why: "kubectl's body has no kind",
      body: { propagationPolicy: "Background" },
      want: { propagationPolicy: "Background", preconditions: {}, dryRun: false },
    },
    { why: "preconditions are read", body: { kind: "DeleteOptions", preconditions: { uid: "a", resourceVersion: "1" } }, want: { preconditions: { uid: "a", resourceVersion: "1" }, dryRun: false } }, // prettier-ignore
    { why: "a dry run is a list", body: { dryRun: ["All"] }, want: { preconditions: {}, dryRun: true } },
  ])("$why", ({ body, want }) => {
    expect(readDeleteParameters(new URLSearchParams(), body)).toEqual(want);
  });

  test.each([
    { body: [], want: /DeleteOptions object/ },
    { body: { kind: "Pod" }, want: /cannot be handled as a DeleteOptions/ },
    { body: { propagationPolicy: "Later" }, want: /Unsupported value: "Later"/ },
    { body: { propagationPolicy: "Orphan", orphanDependents: true }, want: /cannot be both set/ },
  ])("$body is refused", ({ body, want }) => {
    expect(() => readDeleteParameters(new URLSearchParams(), body)).toThrow(want);
  });
});

describe("warnings", () => {
  /** The headers that these come to, and how often one was written. */
  function told(texts: readonly string[]): { headers: readonly string[]; writes: number } {
    let [headers, writes] = [[] as string[], 0];
    const warnings = new Warnings({
      appendHeader(this: never, _name, value) {
        headers.push(value as string);
        writes += 1;
        return this;
      },
      setHeader(this: never, _name, values) {
        headers = [...(values as string[])];
        writes += headers.length;
        return this;
      },
    });
    for (const text of texts) warnings.add(text);
    return { headers, writes };
  }
  const headersOf = (texts: readonly string[]) => told(texts).headers;

  test("are quoted and told once", () => {
    expect(headersOf(['unknown field "a"', 'unknown field "a"', "b\nc"])).toEqual(['299 - "unknown field \\"a\\""', '299 - "b?c"']);
  });

  test("are cut, then left out, when there are too many", () => {
    const headers = headersOf(Array.from({ length: 100 }, (_, n) => `${n} ${"x".repeat(1_000)}`));
    expect(headers).toHaveLength(16);
    expect(headers.every((header) => header.length <= 256 + 10)).toBe(true);
  });

  test("that do not fit any more change nothing, and each that fits is written twice at most, however many there are", () => {
    const { headers, writes } = told(Array.from({ length: 100_000 }, (_, n) => `unknown field "f${n}"`));
    expect(headers.length).toBeGreaterThan(100);
    expect(writes).toBeLessThanOrEqual(2 * headers.length);
    expect(headers.join("").length).toBeLessThan(8_192);
  });
});

describe("requests under way", () => {
  /** Releases a place; undefined if there was none. */
  function parsePlace(take: () => () => void): (() => void) | undefined {
    try {
      return take();
    } catch (error) {
      expect(error).toMatchObject({ code: "API_TOO_MANY_REQUESTS" });
      return undefined;
    }
  }

  test("reads and writes are counted apart, and leaving makes room", () => {
    const inFlight = createInFlight({ reads: 1, writes: 1 });
    const enter = (method: string) => parsePlace(() => inFlight.take(sharedBy(method), { name: "jane", administers: false }));
    const leave = enter("GET");
    expect([enter("GET"), enter("POST") !== undefined, enter("DELETE")]).toEqual([undefined, true, undefined]);
    leave!();
    expect(enter("GET")).toBeDefined();
  });

  test("one caller has a share, and administrators have places that no other caller can take", () => {
    const inFlight = createInFlight({ writes: 20, callerShare: 0.25, administratorShare: 0.1 });
    const enter = (name: string, administers = false) => parsePlace(() => inFlight.take("writes", { name, administers }));
    const many = (count: number, name: string, administers?: boolean) =>
      Array.from({ length: count }, () => enter(name, administers)).filter((leave) => leave !== undefined);
    const eves = many(20, "eve");
    expect(eves.length).toBe(5);
    expect(["a", "b", "c"].map((name) => many(5, name).length)).toEqual([5, 5, 3]);
    expect(many(5, "root", true).length).toBe(2);
    for (const leave of eves) leave();
    expect(many(20, "root", true).length).toBe(5);
    expect(enter("jane")).toBeUndefined();
  });
});

describe("YAML answers", () => {
  const yamlOf = (value: unknown) => [...yamlParts(value as object)].join("");

  test("read back as the data they were made of", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        expect(load(yamlOf(plain))).toEqual(plain);
      }),
      { numRuns: 500 },
    );
  });

  test.each([[[[1, [2]], []]], [{ a: [[], {}, [{ b: 1, c: [2] }]] }], [{ yes: "no", "a: b": "- c", "": null }]])("hold for %j", (value) => {
    expect(load(yamlOf(value))).toEqual(value);
  });
});
