import { describe, expect, test } from "vitest";
import { queryString, resourcePath } from "../../../src/kube/client/resource-path.ts";
import { ENDPOINT_SLICES, ENDPOINTS, NAMESPACES } from "../../../src/kube/object/resource.ts";

describe("resourcePath", () => {
  test.each([
    { resource: ENDPOINTS, target: {}, want: "/api/v1/endpoints", why: "the whole cluster" },
    { resource: ENDPOINTS, target: { namespace: "shop" }, want: "/api/v1/namespaces/shop/endpoints", why: "one namespace" },
    { resource: ENDPOINTS, target: { namespace: "shop", name: "db" }, want: "/api/v1/namespaces/shop/endpoints/db", why: "one object" },
    { resource: NAMESPACES, target: { namespace: "", name: "shop" }, want: "/api/v1/namespaces/shop", why: "a cluster-scoped object" },
    {
      resource: NAMESPACES,
      target: { namespace: "other", name: "shop" },
      want: "/api/v1/namespaces/shop",
      why: "a cluster-scoped object has no namespace",
    },
    {
      resource: ENDPOINT_SLICES,
      target: { namespace: "shop", name: "db-x1" },
      want: "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices/db-x1",
      why: "a group",
    },
    {
      resource: ENDPOINTS,
      target: { namespace: "a/b", name: "c?d#e" },
      want: "/api/v1/namespaces/a%2Fb/endpoints/c%3Fd%23e",
      why: "letters that mean something in paths",
    },
  ])("addresses $why", ({ resource, target, want }) => {
    expect(resourcePath(resource, target)).toBe(want);
  });

  test.each(["", ".", ".."])("refuses the name %j, which would address something else", (name) => {
    expect(() => resourcePath(ENDPOINTS, { namespace: "shop", name })).toThrow(expect.objectContaining({ code: "API_BAD_REQUEST" }));
  });

  test("refuses a namespace that leads elsewhere", () => {
    expect(() => resourcePath(ENDPOINTS, { namespace: "..", name: "db" })).toThrow(expect.objectContaining({ code: "API_BAD_REQUEST" }));
  });
});

test("queryString leaves out what is not set and escapes the rest", () => {
  expect(queryString({ limit: undefined })).toBe("");
  expect(queryString({ watch: true, limit: 500, labelSelector: "a in (b,c)&x" })).toBe(
    "?watch=true&limit=500&labelSelector=a%20in%20(b%2Cc)%26x",
  );
});
