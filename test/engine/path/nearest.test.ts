import { describe, expect, test } from "vitest";
import { compilePath, nearestPath } from "../../../src/engine/path/path.ts";

const POD = {
  metadata: { annotations: { "example.com/x": "1", team: "blue", "1.0": "version" }, labels: {} },
  spec: { containers: [{ image: "web", env: [{ name: "A" }] }, { ports: [{ containerPort: 80 }] }], restartPolicy: "Always", volumes: [] },
};

describe("nearestPath", () => {
  test.each([
    { path: "zzz.a", reached: "$", suggestion: undefined, why: "nothing is near" },
    { path: "metadata.annotaions.team", reached: "metadata", suggestion: "metadata.annotations.team", why: "a name is misspelt" },
    { path: "spec.RestartPolicy", reached: "spec", suggestion: "spec.restartPolicy", why: "a name differs in case" },
    {
      path: "metadata.annotations.example.com/x",
      reached: "metadata.annotations",
      suggestion: 'metadata.annotations["example.com/x"]',
      why: "a key with dots needs quotes",
    },
    {
      path: "metadata.annotations.1.0",
      reached: "metadata.annotations",
      suggestion: 'metadata.annotations["1.0"]',
      why: "a version needs quotes",
    },
    { path: "spec.containers.image", reached: "spec.containers", suggestion: "spec.containers[*].image", why: "a list needs a wildcard" },
    {
      path: "spec.containers.env.name",
      reached: "spec.containers",
      suggestion: "spec.containers[*].env[*].name",
      why: "two lists need two wildcards",
    },
    { path: "spec.volumes.name", reached: "spec.volumes", suggestion: undefined, why: "a wildcard over an empty list leads no further" },
    { path: "spc.contaners.imge", reached: "$", suggestion: "spec.containers[*].imge", why: "no more than three slips are mended" },
    { path: "spec.contaners.imge", reached: "spec", suggestion: "spec.containers[*].image", why: "several slips are mended together" },
    {
      path: "metadata.annotaions.absent",
      reached: "metadata",
      suggestion: "metadata.annotations.absent",
      why: "further is better, even when it is not all the way",
    },
    { path: "metadata.labels.app", reached: "metadata.labels", suggestion: undefined, why: "an empty object offers nothing" },
    {
      path: "spec.containers[*].ports[*].hostPort",
      reached: "spec.containers[1].ports[0]",
      suggestion: undefined,
      why: "the deepest branch counts",
    },
    { path: "spec.containers[7].image", reached: "spec.containers", suggestion: undefined, why: "an index has no neighbour" },
    { path: "spec.restartPolicy[*]", reached: "spec.restartPolicy", suggestion: undefined, why: "a text has no elements" },
    {
      path: "spec.containers[*].image",
      reached: "spec.containers[0].image",
      suggestion: undefined,
      why: "a path that matches needs no help",
    },
  ])("$path: $why", ({ path, reached, suggestion }) => {
    expect(nearestPath(compilePath(path), POD)).toEqual(suggestion === undefined ? { reached } : { reached, suggestion });
  });

  test("does not follow JSONPath operators", () => {
    expect(nearestPath(compilePath("$..imge", { syntax: "jsonpath" }), POD)).toEqual({ reached: "$" });
  });

  test("suggests only paths that lead further", () => {
    for (const text of ["a.b.c.d", "metadata.x.y", "spec.containers.zzz", "spec.containers[0].en.nme"]) {
      const { suggestion } = nearestPath(compilePath(text), POD);
      if (suggestion === undefined) continue;
      expect(nearestPath(compilePath(suggestion), POD).reached.length).toBeGreaterThan(nearestPath(compilePath(text), POD).reached.length);
    }
  });

  test("compares a name with the first thousand keys only", () => {
    const many = Array.from({ length: 999 }, (_, at) => [`label-${at}`, "x"]);
    const near = (before: number) =>
      nearestPath(compilePath("zebr"), Object.fromEntries([...many.slice(0, before), ["pad", "x"], ["zebra", "x"]]));
    expect(near(998).suggestion).toBe("zebra");
    expect(near(999).suggestion).toBeUndefined();
  });
});
