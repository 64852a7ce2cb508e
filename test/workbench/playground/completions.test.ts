/**
 * What can be written where the cursor is: `|` in a configuration.
 */
import { describe, expect, test } from "vitest";
import { SCOPE } from "../../../src/engine/expression/left-out.ts";
import { createSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { SYNCED_KINDS } from "../../../src/engine/kinds/synced-kinds.ts";
import { HOST_FUNCTIONS } from "../../../src/engine/expression/functions/host-functions.ts";
import { compilePath } from "../../../src/engine/path/path.ts";
import { completionsAt, type FoundCompletion } from "../../../src/workbench/playground/page/editor/completions.ts";
import {
  KNOWN_SHAPES,
  MEMBERS_OF_NAME,
  MEMBERS_OF_TYPE,
  NAMES_IN_SCOPE,
} from "../../../src/workbench/playground/page/editor/known-names.ts";

const TENANT = `apiVersion: v1
kind: Endpoints
metadata:
  name: web
  namespace: shop
  labels: { app: web }
  annotations: { example.com/team: storefront, plain: x }
subsets:
  - addresses:
      - { ip: 10.1.0.11, hostname: web-0, extra: 1 }
    ports: [{ name: http, port: 8080 }]
`;
const HOST = TENANT.replace("name: web", "name: web-x-shop-x-blue");

/** A configuration with one patch of `list`, whose fields are given. */
const configOf = (fields: string, list = "endpoints") => `sync:\n  toHost:\n    ${list}:\n      patches:\n        - ${fields}\n`;

function offered(marked: string, { asked = false, tenant = TENANT } = {}): readonly FoundCompletion[] | undefined {
  const offset = marked.indexOf("|");
  return completionsAt({ config: marked.replace("|", ""), tenant, host: HOST }, offset, asked)?.options;
}
const labels = (marked: string, options?: { readonly asked?: boolean }) => offered(marked, options)?.map(({ label }) => label);
/** In an expression of a patch of annotation `example.com/team`. */
const expression = (text: string) => configOf(`path: metadata.annotations["example.com/team"]\n          expression: ${text}`);
const path = (text: string, list?: string) => configOf(`path: ${text}`, list);

describe("in expressions", () => {
  test("names are offered once a letter is there, or when people ask", () => {
    expect(labels(expression("v|"))).toEqual(NAMES_IN_SCOPE.map(({ name }) => name));
    expect(labels(expression('\'"blue-" + v|'))).toContain("virtualToHostDNS");
    expect(labels(expression("|"))).toBeUndefined();
    expect(labels(expression("|"), { asked: true })).toContain("value");
  });

  test("functions of the host say what they take", () => {
    const found = offered(expression("b|"))!;
    for (const { name, signature, about } of HOST_FUNCTIONS) expect(found).toContainEqual({ label: name, detail: signature, about });
  });

  test.each([
    ["value.|", ["replace", "slice"]],
    ["value.sl|", ["slice"]],
    ["'value.|", ["slice"]],
    ['"value.|', ["slice"]],
    ["context.|", ["vcluster", "hostObject", "virtualObject", "path"]],
    ["context.vcluster.|", ["name", "namespace", "config"]],
    ["context.vcluster.config.|", ["sync"]],
    ["context.vcluster.name.|", ["length"]],
    ["context.virtualObject.metadata.|", ["labels", "namespace"]],
    ["context.virtualObject?.metadata?.labels?.|", ["app"]],
    ["context.hostObject.subsets.|", ["map", "filter"]],
    ["context.virtualObject.metadata.annotations.|", ['["example.com/team"]', "plain"]],
    ["JSON.|", ["stringify"]],
    ["Object.keys(context.|", ["virtualObject"]],
    ["`${value.|", []],
  ])("%s", (text, some) => {
    expect(labels(expression(text)) ?? []).toEqual(expect.arrayContaining(some));
  });

  test("a value has the members of its type", () => {
    const port = configOf("path: subsets[*].ports[*].port\n          reverseExpression: value.|");
    expect(labels(port)).toEqual(MEMBERS_OF_TYPE.number);
    const all = configOf("path: subsets\n          expression: value.|");
    expect(labels(all)).toEqual(MEMBERS_OF_TYPE.list);
    const map = configOf("path: metadata.labels\n          expression: value.|");
    expect(labels(map)).toEqual(["app"]);
  });

  test("a key that is not a name goes into brackets, without the dot before them", () => {
    const find = (text: string) => offered(expression(text))!.find(({ label }) => label === '["example.com/team"]')!;
    expect(find("context.virtualObject.metadata.annotations.|").cut).toBe(1);
    expect(find("context.virtualObject.metadata.annotations?.|").cut).toBeUndefined();
  });

  test("a block of several lines is an expression too", () => {
    expect(labels(expression("|".replace("|", ">-\n            value.|\n")))).toContain("slice");
  });

  test.each(["'\"blue-v|", "'value'|", "value # v|", "value.slice(1).|", "value.owner.x.|", "nothing.|", "1.|"])(
    "%s offers nothing",
    (text) => {
      expect(labels(expression(text))).toBeUndefined();
    },
  );
});

describe("in paths", () => {
  test.each([
    ["|", ["metadata", "subsets[*]"]],
    ["me|", ["metadata", "subsets[*]"]],
    ["metadata.|", ["labels", "annotations"]],
    ["metadata.labels.|", ["app"]],
    ["metadata.annotations.|", ['["example.com/team"]', "plain"]],
    ["metadata.annotations[|", ['["example.com/team"]', '["plain"]']],
    ['metadata.annotations["exa|', ['["example.com/team"]', '["plain"]']],
    ["'metadata.annotations[\"exa|", ['["example.com/team"]', '["plain"]']],
    ["subsets[|", ["[*]", "[0]"]],
    ["subsets[*].|", ["addresses[*]", "ports[*]", "notReadyAddresses[*]"]],
    ["subsets[*].addresses[*].|", ["ip", "hostname", "extra", "nodeName", "targetRef"]],
    ["subsets[0].ports[*].po|", ["name", "port", "protocol", "appProtocol"]],
    ["$.metadata.|", ["labels", "annotations"]],
  ])("%s", (text, all) => {
    expect(labels(path(text))).toEqual(all);
  });

  test("each list has its own kind", () => {
    expect(labels(path("endpoints[*].|", "endpointSlices"))).toContain("addresses[*]");
    expect(labels(path("endpoints[*].|", "endpointSlices"))).toContain("zone");
    expect(labels(path("spec.|", "services"))).toEqual(["type", "ports[*]"]);
    expect(labels(path("spec.ports[*].|", "services"))).toContain("appProtocol");
  });

  test("a key that is not a name goes into brackets, escaped where YAML asks for it", () => {
    expect(offered(path("metadata.annotations.|"))).toContainEqual({ label: '["example.com/team"]', detail: "text", cut: 1 });
    expect(labels(path('"metadata.annotations.|'))).toContain('[\\"example.com/team\\"]');
  });

  test("what is offered is a path", () => {
    for (const parent of ["", "metadata.", "metadata.labels.", "metadata.annotations.", "subsets[*].", "subsets[*].addresses[*]."]) {
      for (const { label, cut = 0 } of offered(path(`${parent}|`))!) {
        expect(() => compilePath(parent.slice(0, parent.length - cut) + label)).not.toThrow();
      }
    }
  });

  test.each(["subsets[*]|", "subsets[?(@.ip)].|", "metadata.name.more.|", "'metadata'|", "a # b|"])("%s offers nothing", (text) => {
    expect(labels(path(text))).toBeUndefined();
  });
});

test("elsewhere nothing is offered", () => {
  expect(labels("sy|nc: {}")).toBeUndefined();
  expect(labels(configOf("pa|th: metadata.labels"))).toBeUndefined();
  expect(labels("path: metadata.|")).toBeUndefined();
});

test("a text that is not quite right, or very deep, does no harm", () => {
  const deep = `kind: Endpoints\nsubsets: ${"[".repeat(2_000)}`;
  expect(offered(path("subsets[*].|"), { tenant: deep })?.map(({ label }) => label)).toContain("addresses[*]");
  expect(offered(path("subsets[*].|"), { tenant: "{{{" })?.map(({ label }) => label)).toContain("addresses[*]");
});

describe("what is known", () => {
  test("names are in scope", () => {
    expect(NAMES_IN_SCOPE.map(({ name }) => name).filter((name) => !SCOPE.has(name))).toEqual([]);
  });

  test("members are there in the engine", async () => {
    const sandbox = await createSandbox();
    try {
      const missing = (of: string, members: readonly string[]) => {
        const text = `${JSON.stringify(members)}.filter((name) => !(name in ${of}))`;
        const context = { vcluster: { name: "", namespace: "", config: {} }, hostObject: null, virtualObject: null, path: "" };
        return sandbox.evaluate(sandbox.compile(text), { value: "", valueExists: true, context }).value;
      };
      expect(missing("Object(value)", MEMBERS_OF_TYPE.string)).toEqual([]);
      expect(missing("Object(1)", MEMBERS_OF_TYPE.number)).toEqual([]);
      expect(missing("[]", MEMBERS_OF_TYPE.list)).toEqual([]);
      for (const [name, members] of Object.entries(MEMBERS_OF_NAME)) expect(missing(name, members)).toEqual([]);
    } finally {
      sandbox.dispose();
    }
  });

  test("every list of patches has a shape", () => {
    expect(Object.keys(KNOWN_SHAPES)).toEqual(SYNCED_KINDS.map(({ section }) => section));
  });
});
