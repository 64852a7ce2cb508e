import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/object/types.ts";
import { createPatcher } from "../../../src/engine/patcher.ts";
import { parseConfig } from "../../../src/engine/config/config.ts";
import { evaluate } from "../../../src/workbench/playground/worker/evaluate.ts";
import { tryPairs } from "../../../src/workbench/playground/worker/pairs.ts";
import { SAMPLE_VCLUSTER, type PlaygroundState } from "../../../src/workbench/playground/protocol.ts";
import { DRIFTING_TOGETHER } from "./drifting-together.ts";

const CONFIG = `
sync:
  toHost:
    endpoints:
      patches:
        - path: metadata.annotations.team
          expression: '"blue-" + value'
          reverseExpression: 'value.replace(/^blue-/, "")'
        - path: metadata.annotations.fixed
          expression: '"always"'
`;
const TENANT = `
apiVersion: v1
kind: Endpoints
metadata:
  name: web
  labels: { app: web }
  annotations: { team: shop, fixed: x }
subsets:
  - addresses: [{ ip: 10.1.0.11 }]
    ports: [{ port: 80 }]
`;
const HOST = `
apiVersion: v1
kind: Endpoints
metadata:
  name: web-x-default-x-my-vcluster
  namespace: team-x
  labels: { app: web }
  annotations: { team: blue-shop, fixed: always }
subsets:
  - addresses: [{ ip: 10.1.0.11 }]
    ports: [{ port: 80 }]
`;
const answerTo = (change: Partial<PlaygroundState> = {}) => evaluate({ config: CONFIG, tenant: TENANT, ...change });
const objectOf = (yaml: string | undefined) => load(yaml ?? "") as KubeObject;
const places = async (change: Partial<PlaygroundState>) =>
  (await answerTo(change)).problems.map(({ file, line, column, code }) => [file, line, column, code]);

describe("toward the host", () => {
  test("writes what the patcher writes", async () => {
    const parsed = parseConfig(CONFIG, { vcluster: SAMPLE_VCLUSTER });
    if (!parsed.ok) throw new Error("the configuration is right");
    const patcher = await createPatcher({ config: parsed.config, vcluster: SAMPLE_VCLUSTER });
    const { object, outcomes } = patcher.toHost(objectOf(TENANT));
    patcher.dispose();
    const answer = await answerTo();
    expect(objectOf(answer.host)).toEqual(object);
    expect(answer.outcomes).toMatchObject(outcomes);
    expect(objectOf(answer.host)).toEqual(objectOf(HOST));
  });

  test("tells of each patch its list, its line and its expression", async () => {
    const { outcomes } = await answerTo();
    expect(outcomes.map(({ direction, list, line, expression }) => [direction, list, line, expression])).toEqual([
      ["toHost", "endpoints", 6, '"blue-" + value'],
      ["toHost", "endpoints", 9, '"always"'],
    ]);
  });

  test("explains a failure by the values of the parts", async () => {
    const config = CONFIG.replace(`'"always"'`, "value.owner.name");
    const { outcomes, notes } = await answerTo({ config });
    expect(outcomes[1]).toMatchObject({ outcome: "error", code: "EXPRESSION_ERROR", place: "metadata.annotations.fixed" });
    expect(outcomes[1]!.explanation!.split("\n")).toEqual(["value.owner.name", "|     |", '"x"   undefined']);
    expect(notes.map(({ code }) => code)).toEqual(["EXPRESSION_ERROR"]);
  });

  test("does not watch again what hit a limit", async () => {
    const { outcomes } = await answerTo({ config: CONFIG.replace(`'"always"'`, "'(() => { for (;;); })()'") });
    expect(outcomes[1]).toMatchObject({ code: "EXPRESSION_FUEL" });
    expect(outcomes[1]).not.toHaveProperty("explanation");
  });

  test("says how far a path leads that finds nothing", async () => {
    const { outcomes } = await answerTo({ config: CONFIG.replace("annotations.fixed", "annotation.fixed") });
    expect(outcomes[1]).toMatchObject({
      outcome: "noMatch",
      hint: expect.stringMatching(
        /^metadata exists, but the rest of the path does not.*Did you mean metadata\.annotations\.fixed\?$/,
      ) as string,
    });
  });

  test("says why nothing would be written", async () => {
    const answer = await answerTo({ config: "sync: { toHost: { endpoints: { enabled: false } } }" });
    expect(answer.notes.map(({ code }) => code)).toEqual(["SYNC_DISABLED"]);
    expect(answer).not.toHaveProperty("host");
  });

  test("shows the first object of a synced kind; Services stand beside it", async () => {
    const secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: a }\n";
    const service = "apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { ports: [{ port: 80 }] }\n";
    const { host, tenant } = await answerTo({ tenant: [secret, TENANT, service].join("---\n") });
    expect([objectOf(tenant).kind, objectOf(tenant).metadata.namespace]).toEqual(["Endpoints", "default"]);
    expect(objectOf(host)).toEqual(objectOf(HOST));
  });
});

describe("problems", () => {
  test("of the configuration stand at their place, and leave nothing else", async () => {
    const answer = await answerTo({ config: CONFIG.replace("+ value", "+ value;") });
    expect(answer).toMatchObject({ outcomes: [], notes: [], fuel: 0 });
    expect(answer.problems.map(({ file, line, column, code }) => [file, line, column, code])).toEqual([
      ["config", 7, 39, "EXPRESSION_SYNTAX"],
    ]);
  });

  test("of what only the engine's compiler refuses stand at its patch", async () => {
    expect(await places({ config: CONFIG.replace(`'"always"'`, `'[${"/\\p{L}/iu,".repeat(100)}].length'`) })).toEqual([
      ["config", 10, 23, "EXPRESSION_SYNTAX"],
    ]);
  });

  test("of the tenant's objects stand at their place, in the second document too", async () => {
    expect(await places({ tenant: `${TENANT}---\napiVersion: v1\n  kind: Service\n` })).toEqual([["tenant", 13, 7, "CONFIG_SYNTAX"]]);
    expect(await places({ tenant: `${TENANT}---\n\nkind: Service\n` })).toEqual([["tenant", 13, 1, "CONFIG_REQUIRED"]]);
    expect(await places({ tenant: "- 1\n" })).toEqual([["tenant", 1, 1, "CONFIG_TYPE"]]);
    expect(await places({ tenant: "apiVersion: v1\nkind: Endpoints\nmetadata: { labels: {} }\n" })).toEqual([
      ["tenant", 1, 1, "CONFIG_REQUIRED"],
    ]);
    expect(await places({ tenant: TENANT.replace("app: web", "app: 1") })).toEqual([["tenant", 6, 18, "CONFIG_TYPE"]]);
    expect(await places({ tenant: TENANT.replace("labels: { app: web }", "labels: web") })).toEqual([["tenant", 6, 11, "CONFIG_TYPE"]]);
    expect(await places({ tenant: TENANT.replace("name: web", "name: web\n  namespace: 1") })).toEqual([["tenant", 6, 14, "CONFIG_TYPE"]]);
  });

  test("of an empty text, or one without anything that is synced, say what to write", async () => {
    expect(await places({ tenant: "" })).toEqual([["tenant", 1, 1, "CONFIG_REQUIRED"]]);
    const [problem] = (await answerTo({ tenant: "\napiVersion: v1\nkind: Secret\nmetadata: { name: a }\n" })).problems;
    expect(problem).toMatchObject({ line: 2, hint: "Write one of Endpoints, EndpointSlice, Service" });
  });

  test("of the edited host object leave what is synced", async () => {
    const other = HOST.replace("web-x-default-x-my-vcluster", "other");
    expect(await places({ host: other })).toEqual([["host", 2, 1, "CONFIG_VALUE"]]);
    expect(await places({ host: `${HOST}---\n${HOST}` })).toEqual([["host", 14, 1, "CONFIG_VALUE"]]);
    expect(await places({ host: "" })).toEqual([["host", 1, 1, "CONFIG_VALUE"]]);
    expect(await places({ host: HOST.replace("labels: {", "labels: [") })).toEqual([["host", 7, 22, "CONFIG_SYNTAX"]]);
    const answer = await answerTo({ host: other });
    expect(objectOf(answer.host)).toEqual(objectOf(HOST));
    expect(answer).not.toHaveProperty("back");
  });

  test("warnings leave everything", async () => {
    const answer = await answerTo({ config: CONFIG.replace(`'"always"'`, `'value in ["x"] ? "y" : value'`) });
    expect(answer.problems.map(({ severity }) => severity)).toEqual(["warning"]);
    expect(answer.outcomes).toHaveLength(2);
  });
});

describe("back to the tenant", () => {
  const backOf = async (host: string, change: Partial<PlaygroundState> = {}) => (await answerTo({ ...change, host })).back!;

  test("nothing flows of an unedited object", async () => {
    const { tenant } = await answerTo();
    expect(await backOf(HOST)).toMatchObject({ tenant, flowed: [], undone: [], settles: true });
  });

  test("an edit flows through the reverse expression, and both sides rest", async () => {
    const back = await backOf(
      HOST.replace("blue-shop", "blue-ops").replace("10.1.0.11", "10.1.0.12").replace("labels: { app: web }\n  ", ""),
    );
    expect(back.flowed).toEqual([
      { path: "metadata.labels.app", before: "web" },
      { path: "metadata.annotations.team", before: "shop", after: "ops" },
      { path: "subsets", before: expect.anything() as unknown, after: [{ addresses: [{ ip: "10.1.0.12" }], ports: [{ port: 80 }] }] },
    ]);
    expect(back.undone).toEqual([]);
    expect(objectOf(back.tenant).metadata).toEqual({ name: "web", namespace: "default", annotations: { team: "ops", fixed: "x" } });
    expect(objectOf(back.host).metadata.annotations).toEqual({ team: "blue-ops", fixed: "always" });
    expect(back.outcomes.map(({ direction, outcome }) => [direction, outcome])).toEqual([["toTenant", "noExpression"], ["toTenant", "applied"]]); // prettier-ignore
    expect(back.settles).toBe(true);
  });

  test("an edit without a way back is written over, while the others flow", async () => {
    const back = await backOf(HOST.replace("always", "never").replace("app: web", "app: other"));
    expect(back.flowed.map(({ path }) => path)).toEqual(["metadata.labels.app"]);
    expect(back.undone).toMatchObject([{ path: "metadata.annotations.fixed", code: "ONE_WAY_EDIT", stays: false }]);
    expect(objectOf(back.host).metadata).toMatchObject({ labels: { app: "other" }, annotations: { fixed: "always" } });
  });

  test("an edit that would come back different is written over", async () => {
    const config = CONFIG.replace("/^blue-/", "/^blue/");
    const back = await backOf(HOST.replace("blue-shop", "blue-ops"), { config });
    expect(back).toMatchObject({ flowed: [], undone: [{ path: "metadata.annotations.team", code: "REVERSE_NOT_INVERSE" }], settles: true });
    expect(objectOf(back.host).metadata.annotations).toMatchObject({ team: "blue-shop" });
  });

  test("what belongs to the host alone stays there", async () => {
    const note = "kubectl.kubernetes.io/last-applied-configuration";
    const back = await backOf(HOST.replace("fixed: always", `fixed: always, ${note}: "{}"`));
    expect(back).toMatchObject({ flowed: [], undone: [{ path: `metadata.annotations["${note}"]`, code: "EXCLUDED", stays: true }] });
    expect(objectOf(back.host).metadata.annotations).toMatchObject({ [note]: "{}" });
  });

  test("the syncer's own marks can neither be edited nor taken away", async () => {
    const back = await backOf(HOST.replace("fixed: always", "fixed: always, sync.platform/object-name: other"));
    expect(back).toMatchObject({ flowed: [], undone: [], settles: true });
    expect(Object.keys(objectOf(back.host).metadata.annotations ?? {})).toEqual(["team", "fixed"]);
  });

  test("a failing reverse expression is explained", async () => {
    const config = CONFIG.replace(`'value.replace(/^blue-/, "")'`, "value.no.way");
    const back = await backOf(HOST.replace("blue-shop", "blue-ops"), { config });
    expect(back.outcomes.find(({ outcome }) => outcome === "error")).toMatchObject({
      direction: "toTenant",
      expression: "value.no.way",
      explanation: expect.stringContaining("undefined") as string,
    });
  });
});

describe("settings", () => {
  const NOTES = async (change: Partial<PlaygroundState>) => (await answerTo(change)).notes.map(({ code }) => code);

  test("have effect: what they forbid is not written", async () => {
    expect(await NOTES({ settings: "addressPolicy: { allow: [10.1.0.0/16] }" })).toEqual([]);
    expect(await NOTES({ settings: "addressPolicy: { allow: [10.2.0.0/16] }" })).toEqual(["ADDRESS_REFUSED", "ADDRESS_REFUSED"]);
    const reject = "addressPolicy: { allow: [10.2.0.0/16], action: reject-object }";
    expect((await answerTo({ settings: reject })).host).toBeUndefined();
    expect(await NOTES({ settings: "selector: { matchLabels: { app: db } }" })).toEqual(["EXCLUDED"]);
  });

  test("have effect: what a failing patch does", async () => {
    const config = CONFIG.replace("'\"blue-\" + value'", "value.no.way");
    const team = async (settings: string) => objectOf((await answerTo({ config, settings })).host)?.metadata?.annotations?.["team"];
    expect(await team("onError: keep-last")).toBeUndefined();
    expect(await team("onError: skip-patch")).toBe("shop");
    expect((await answerTo({ config, settings: "onError: block-object" })).host).toBeUndefined();
  });

  test("have effect: which kinds are copied", async () => {
    expect(await places({ settings: "backends: slices" })).toContainEqual(["tenant", 2, 1, "CONFIG_REQUIRED"]);
    expect((await answerTo({ settings: "backends: both" })).host).toBeDefined();
  });

  test("have effect on what the configuration may say", async () => {
    const config = CONFIG.replace("metadata.annotations.team", "$..team");
    expect((await places({ config })).map(([file]) => file)).toContain("config");
    expect((await answerTo({ config, settings: "pathSyntax: jsonpath" })).outcomes[0]).toMatchObject({ outcome: "applied" });
  });

  test("with a mistake are a problem at its place, beside those of the configuration", async () => {
    expect(await places({ settings: "onError: stop\naddressPolicy:\n  allow: [10.0.0.0/8, x]\n" })).toEqual([
      ["settings", 1, 10, "CONFIG_VALUE"],
      ["settings", 3, 23, "CONFIG_VALUE"],
    ]);
    expect(await places({ settings: "a: [", config: "sync: [" })).toEqual([
      ["config", 1, 8, "CONFIG_SYNTAX"],
      ["settings", 1, 5, "CONFIG_SYNTAX"],
    ]);
  });

  test("warn as a file does, and nothing warns where there is none", async () => {
    expect(await places({ settings: "onError: skip-patch" })).toEqual([["settings", 1, 1, "CONFIG_VALUE"]]);
    expect(await places({ settings: " \n" })).toEqual([]);
  });

  test("accept a drift", async () => {
    const drifting = CONFIG.replace('value.replace(/^blue-/, "")', "value.slice(1)");
    const settings = "acceptedDrifts: [{ path: metadata.annotations.team, reason: known }]\n";
    const accepted = async (state: PlaygroundState) => (await tryPairs(state)).pairs[0];
    const state = {
      config: drifting.replace("'\"blue-\" + value'", "value.toLowerCase()").replace("value.slice(1)", "value"),
      tenant: TENANT,
    };
    expect(await accepted(state)).toMatchObject({ verdict: "drifts" });
    expect(await accepted(state)).not.toHaveProperty("accepted");
    expect(await accepted({ ...state, settings })).toMatchObject({ verdict: "drifts", accepted: "known" });
  });
});

describe("pairs", () => {
  test("have a verdict each", async () => {
    const { pairs, together } = await tryPairs({ config: CONFIG, tenant: TENANT });
    expect(together).toEqual([]);
    expect(pairs.map(({ list, patch, verdict }) => [list, patch, verdict])).toEqual([["endpoints", 0, "lossless"], ["endpoints", 1, "one-way"]]); // prettier-ignore
  });

  test("that drift only together are told together", async () => {
    const { pairs, together } = await tryPairs({ config: DRIFTING_TOGETHER, tenant: TENANT });
    expect(pairs.map(({ verdict }) => verdict)).toEqual(["lossless", "lossless"]);
    expect(together).toMatchObject([
      { list: "endpoints", patches: [0, 1], paths: ["metadata.annotations.a", "metadata.annotations.b"], verdict: "drifts" },
    ]);
  });

  test("of a configuration with errors are none", async () => {
    expect(await tryPairs({ config: CONFIG.replace("+ value", "+"), tenant: TENANT })).toEqual({ pairs: [], together: [] });
  });
});

test("what an API server would refuse is said, as validate and render say it", async () => {
  const config =
    'sync: { toHost: { endpoints: { patches: [{ path: "subsets[*].addresses[*].hostname", expression: value.toUpperCase() }] } } }';
  const tenant =
    "{ apiVersion: v1, kind: Endpoints, metadata: { name: web, namespace: shop }, subsets: [{ addresses: [{ ip: 10.0.0.1, hostname: db-0 }], ports: [{ port: 80 }] }] }";
  const { notes } = await evaluate({ config, tenant });
  expect(notes.filter(({ code }) => code === "API_INVALID")).toEqual([
    {
      code: "API_INVALID",
      message: expect.stringMatching(
        /^An API server refuses what the patch of subsets\[\*\]\.addresses\[\*\]\.hostname wrote: subsets\[0\]\.addresses\[0\]\.hostname: Invalid value: "DB-0"/,
      ) as string,
    },
  ]);
  expect((await evaluate({ config: config.replace("UpperCase", "LowerCase"), tenant })).notes).toEqual([]);
});
