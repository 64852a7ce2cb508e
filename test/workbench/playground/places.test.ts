import { describe, expect, test } from "vitest";
import { matchSpans, writtenPatches, type Span } from "../../../src/workbench/playground/page/editor/places.ts";

const OBJECT = `# The shown one
apiVersion: v1
kind: Endpoints
metadata:
  name: web
  annotations: { "example.com/team": 'it''s ours', plain: "a \\"b\\"" }
subsets:
  - addresses:
      - ip: 10.0.0.1
      - { ip: 10.0.0.2, hostname: web-1 }
    ports: [{ port: 80 }, { port: 443 }]
`;

const textAt = (text: string, { from, to }: Span) => text.slice(from, to);
const found = (path: string, text = OBJECT) => matchSpans(text, "endpoints", path).map((span) => textAt(text, span));

describe("what a path finds in a text", () => {
  test.each([
    ["metadata.name", ["web"]],
    ["subsets[*].addresses[*].ip", ["10.0.0.1", "10.0.0.2"]],
    ["subsets[0].addresses[1].hostname", ["web-1"]],
    ["subsets[-1].ports[-1].port", ["443"]],
    ["subsets[*].ports[*]", ["{ port: 80 }", "{ port: 443 }"]],
    ['metadata.annotations["example.com/team"]', ["'it''s ours'"]],
    ["metadata.annotations[*]", ["'it''s ours'", '"a \\"b\\""']],
    ["subsets[*].addresses", ["- ip: 10.0.0.1\n      - { ip: 10.0.0.2, hostname: web-1 }"]],
    ["metadata.labels", []],
    ["subsets[7].addresses", []],
    ["metadata.name.more", []],
    ["metadata[", []],
    ["__proto__.constructor", []],
  ])("%s", (path, texts) => {
    expect(found(path)).toEqual(texts);
  });

  test("is looked for in the first object of the kind, whatever stands before it", () => {
    const text = `kind: Service\nmetadata: { name: before }\n---\n${OBJECT}---\n${OBJECT.replace("name: web", "name: after")}`;
    expect(found("metadata.name", text)).toEqual(["web"]);
    expect(matchSpans(text, "services", "metadata.name").map((span) => textAt(text, span))).toEqual(["before"]);
    expect(matchSpans(text, "endpointSlices", "metadata.name")).toEqual([]);
  });

  test("is found in a text that is not quite right", () => {
    expect(found("metadata.name", `${OBJECT}broken: [`)).toEqual(["web"]);
  });

  test("is the whole object for $", () => {
    expect(found("$")[0]).toBe(OBJECT.trim());
  });

  test("is nothing in no text", () => {
    expect(found("metadata.name", "")).toEqual([]);
  });

  test("looks through anchors and tags, and follows no alias", () => {
    const text = "kind: Endpoints\nmetadata:\n  name: &name web\n  namespace: !!str shop\n  labels: *name\n";
    expect(found("metadata.name", text)).toEqual(["web"]);
    expect(found("metadata.namespace", text)).toEqual(["shop"]);
    expect(found("metadata.labels.x", text)).toEqual([]);
  });
});

describe("patches as they are written", () => {
  const CONFIG = `sync:
  toHost:
    services: { patches: [{ path: metadata.name }] }
    endpoints:
      patches:
        # The first
        - path: "metadata.labels[\\"a\\"]"
          expression: 'value'
          reverseExpression: |
            value
              .trim()
        - { expression: 1 }
`;

  test("have their list, position, path and expressions", () => {
    const patches = writtenPatches(CONFIG).map(({ list, patch, path, expressions }) => ({
      list,
      patch,
      path,
      expressions: Object.fromEntries(Object.entries(expressions).map(([name, span]) => [name, textAt(CONFIG, span)])),
    }));
    expect(patches.toSorted((a, b) => a.list.localeCompare(b.list) || a.patch - b.patch)).toEqual([
      {
        list: "endpoints",
        patch: 0,
        path: 'metadata.labels["a"]',
        expressions: { expression: "'value'", reverseExpression: "|\n            value\n              .trim()" },
      },
      { list: "endpoints", patch: 1, path: undefined, expressions: { expression: "1" } },
      { list: "services", patch: 0, path: "metadata.name", expressions: {} },
    ]);
  });

  test("have a span that holds all of them", () => {
    const [first] = writtenPatches(CONFIG).filter(({ list }) => list === "endpoints");
    expect(textAt(CONFIG, first!.span)).toMatch(/^path:[^]*\.trim\(\)$/);
  });

  test.each(["", "sync: 1", "sync: { toHost: [] }", "- a\n- b", "]["])("are none in %j", (text) => {
    expect(writtenPatches(text)).toEqual([]);
  });
});
