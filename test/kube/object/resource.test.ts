import { describe, expect, test } from "vitest";
import * as resources from "../../../src/kube/object/resource.ts";

const { ENDPOINTS, ENDPOINT_SLICES, LEASES, NAMESPACES, groupOf, qualifiedPlural } = resources;
const known = Object.values(resources).filter((value) => typeof value === "object");

describe("a resource", () => {
  test.each([
    { resource: ENDPOINTS, group: "", name: "endpoints" },
    { resource: ENDPOINT_SLICES, group: "discovery.k8s.io", name: "endpointslices.discovery.k8s.io" },
    { resource: LEASES, group: "coordination.k8s.io", name: "leases.coordination.k8s.io" },
  ])("is called $name", ({ resource, group, name }) => {
    expect(groupOf(resource)).toBe(group);
    expect(qualifiedPlural(resource)).toBe(name);
  });

  test.each(known)("$kind has a plural for paths and a version", ({ kind, plural, apiVersion }) => {
    expect(kind).toMatch(/^[A-Z][A-Za-z]+$/);
    expect(plural).toMatch(/^[a-z]+s$/);
    expect(plural.startsWith(kind.toLowerCase())).toBe(true);
    expect(apiVersion).toMatch(/^([a-z0-9.]+\/)?v1$/);
  });

  test("lies in a namespace, but for namespaces", () => {
    expect(known.filter(({ namespaced }) => !namespaced)).toEqual([NAMESPACES]);
  });
});
