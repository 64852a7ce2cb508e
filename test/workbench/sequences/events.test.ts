/** User actions in a sequence, and the syncer's handling. */
import { afterAll, describe, expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { disposeEngines, lineOf, messagesOf, play, sequence } from "./play.ts";

afterAll(disposeEngines);

const WEB = "{ at: 0s, tenant: { apply: web } }";

interface Case {
  readonly title: string;
  readonly events: readonly string[];
  /** The expectations. */
  readonly expect: readonly string[];
  /** The same events, another expectation, and what comes in its place. */
  readonly wrong: { readonly expect: string; readonly message: string };
}

const TAGGED = "{ sync: { toHost: { endpoints: { patches: [{ path: metadata.labels.tier, expression: '\"blue-\" + value' }] } } } }";

const CASES: readonly Case[] = [
  {
    title: "apply makes an object, or brings it back to how it is written",
    events: [WEB, "{ at: 1s, tenant: { edit: web, set: { metadata.labels.tier: back } } }", "{ at: 2s, tenant: { apply: web } }"],
    expect: [
      "{ at: 1s, host: { web: { asserts: [{ equal: { path: metadata.labels.tier, value: front } }] } } }",
      "{ at: 2s, host: { web: { asserts: [{ equal: { path: metadata.labels.tier, value: back } }] } } }",
      "{ host: { web: { asserts: [{ equal: { path: metadata.labels.tier, value: front } }] } } }",
    ],
    wrong: {
      expect: "{ host: { web: { asserts: [{ equal: { path: metadata.labels.tier, value: back } }] } } }",
      message:
        'Expected metadata.labels.tier to equal "back", found "front", in web (Endpoints vc-blue/web-x-shop-x-blue) in the host cluster at 2.002s',
    },
  },
  {
    title: "apply with set writes it changed",
    events: ["{ at: 0s, tenant: { apply: web, set: { 'subsets[0].addresses[1]': { ip: 10.0.0.2 }, metadata.labels.tier: null } } }"],
    expect: [
      "{ host: { web: { asserts: [{ lengthEqual: { path: 'subsets[0].addresses', count: 2 } }, { notExists: { path: metadata.labels.tier } }] } } }",
    ],
    wrong: {
      expect: "{ host: { web: { asserts: [{ exists: { path: metadata.labels.tier } }] } } }",
      message:
        "Expected metadata.labels.tier to exist, found nothing there, in web (Endpoints vc-blue/web-x-shop-x-blue) in the host cluster at 0.003s",
    },
  },
  {
    title: "delete takes the object away, and its copy with it",
    events: [WEB, "{ at: 1s, tenant: { delete: web } }"],
    expect: ["{ at: 1s, host: { web: present } }", "{ tenant: { web: absent }, host: { web: absent, writes: { exact: 2 } } }"],
    wrong: {
      expect: "{ host: { web: present } }",
      message: "Expected web (Endpoints vc-blue/web-x-shop-x-blue) to be present in the host cluster at 1.003s, but it is absent",
    },
  },
  {
    title: "deleted and recreated in one moment, it keeps one copy",
    events: [WEB, "{ at: 1s, tenant: { delete: web } }", "{ at: 1s, tenant: { apply: web } }"],
    expect: ["{ host: { web: present, writes: { exact: 2 } }, tenant: { writes: { exact: 0 } } }"],
    wrong: {
      expect: "{ host: { web: { writes: { max: 1 } } } }",
      message: "Expected at most 1 write to web (Endpoints vc-blue/web-x-shop-x-blue) in the host cluster by 1.002s, but there were 2",
    },
  },
  {
    title: "an edit on the host that belongs to the tenant flows back",
    events: [WEB, "{ at: 1s, host: { edit: web, set: { metadata.labels.seen: 'yes' } } }"],
    expect: ["{ tenant: { writes: { exact: 1 }, web: { asserts: [{ equal: { path: metadata.labels.seen, value: 'yes' } }] } } }"],
    wrong: {
      expect: "{ tenant: { writes: { exact: 0 } } }",
      message: "Expected exactly 0 writes to the tenant cluster by 1.003s, but there was 1",
    },
  },
  {
    title: "a deleted copy comes back",
    events: [WEB, "{ at: 1s, host: { delete: web } }"],
    expect: ["{ host: { web: present, writes: { exact: 1, since: 1s } } }"],
    wrong: {
      expect: "{ host: { writes: { max: 1 } } }",
      message: "Expected at most 1 write to the host cluster by 1.004s, but there were 2",
    },
  },
  {
    title: "what the sequence applies to the host means itself there",
    events: ["{ at: 0s, host: { apply: squatter } }", "{ at: 1s, tenant: { apply: web } }"],
    expect: [
      "{ host: { squatter: present, writes: { exact: 0 } }, tenant: { web: { notes: [HOST_OBJECT_FOREIGN], events: [HostObjectForeign] } } }",
    ],
    wrong: {
      expect: "{ host: { squatter: absent } }",
      message: "Expected squatter (Endpoints vc-blue/web-x-shop-x-blue) to be absent in the host cluster at 1.002s, but it is present",
    },
  },
  {
    title: "other kinds are objects as well",
    events: ["{ at: 0s, tenant: { apply: service } }", WEB, "{ at: 1s, tenant: { apply: service, set: { 'spec.ports[0].port': 81 } } }"],
    expect: ["{ host: { service: { asserts: [{ equal: { path: 'spec.ports[0].port', value: 81 } }] }, writes: { exact: 3 } } }"],
    wrong: {
      expect: "{ host: { service: absent } }",
      message: "Expected service (Service vc-blue/web-x-shop-x-blue) to be absent in the host cluster at 1.002s, but it is present",
    },
  },
  {
    title: "a paused object waits until it is resumed",
    events: [
      WEB,
      "{ at: 1s, tenant: { pause: web } }",
      "{ at: 2s, tenant: { edit: web, set: { metadata.labels.tier: back } } }",
      "{ at: 4s, tenant: { resume: web } }",
    ],
    expect: ["{ at: 4s, host: { writes: { exact: 1 } }, tenant: { web: { notes: [EXCLUDED] } } }", "{ host: { writes: { exact: 2 } } }"],
    wrong: { expect: "{ at: 3s, tenant: { web: { notes: [] } } }", message: "Expected notes about web by 3s: none; found EXCLUDED" },
  },
  {
    title: "a running syncer takes another configuration up",
    events: [WEB, `{ at: 1s, reload: { config: ${TAGGED} } }`],
    expect: [
      "{ at: 1s, host: { writes: { exact: 1 } } }",
      "{ host: { web: { asserts: [{ equal: { path: metadata.labels.tier, value: blue-front } }] } } }",
    ],
    wrong: {
      expect: "{ host: { writes: { max: 1 } } }",
      message: "Expected at most 1 write to the host cluster by 1.001s, but there were 2",
    },
  },
];

describe.each(CASES)("$title", ({ events, expect: expected, wrong }) => {
  test("and what holds passes", async () => {
    const result = await play(sequence(events, expected));
    expect(messagesOf(result)).toEqual([]);
    expect(result.verdict).toBe("passed");
  });

  test("and what does not hold fails, with its place and what happened", async () => {
    const text = sequence(events, [...expected, wrong.expect]);
    const result = await play(text);
    expect(result.verdict).toBe("failed");
    expect(result.failures).toHaveLength(1);
    const [failure] = result.failures;
    expect(failure!.message).toBe(wrong.message);
    expect(failure!.explanation).toContain("user    creates");
    expect(lineOf(text, failure!.place)).toContain(wrong.expect);
  });
});

describe("given", () => {
  const text = (expected: string) => `sequences:
  - it: begins with something
    given: { tenant: [web], host: [squatter] }
    expect:
      - ${expected}
`;

  test("is there before the syncer starts", async () => {
    const result = await play(text("{ at: 0s, tenant: { web: present }, host: { squatter: present } }"));
    expect(result.verdict).toBe("passed");
  });

  test("is what the syncer finds", async () => {
    const result = await play(text("{ tenant: { web: { notes: [] } } }"));
    expect(messagesOf(result)).toEqual(["web.patch-test.yaml:21:35 Expected notes about web by 0.001s: none; found HOST_OBJECT_FOREIGN"]);
  });
});

describe("what cannot be done", () => {
  test.each([
    ["{ at: 1s, tenant: { delete: web } }", "Cannot delete web: there is no Endpoints shop/web in the tenant cluster"],
    [
      "{ at: 1s, host: { edit: web, set: { a: 1 } } }",
      "Cannot edit web: there is no Endpoints vc-blue/web-x-shop-x-blue in the host cluster",
    ],
    [
      "{ at: 1s, tenant: { apply: web, set: { 'subsets[0].addresses[0].ip': here } } }",
      'Cannot apply web (Endpoints shop/web) in the tenant cluster: Endpoints "web" is invalid',
    ],
    [
      "{ at: 1s, tenant: { apply: web, set: { 'subsets[7].ports': [] } } }",
      "Cannot apply web (Endpoints shop/web) in the tenant cluster: Cannot set subsets[7].ports",
    ],
  ])("is an error of the sequence: %s", async (event, message) => {
    const result = await play(sequence([event], ["{ quiescent: true }"]));
    expect(result.verdict).toBe("error");
    expect(messagesOf(result)).toEqual([expect.stringContaining(`web.patch-test.yaml:20:9 ${message}`)]);
  });

  test("is an error where a cluster has no such kind", async () => {
    const objects = "objects: { pod: { apiVersion: v1, kind: Pod, metadata: { name: a, namespace: b } } }\n";
    const result = await play(sequence(["{ at: 1s, tenant: { apply: pod } }"], ["{ quiescent: true }"], objects));
    expect(result.verdict).toBe("error");
    expect(messagesOf(result)).toEqual([
      'web.patch-test.yaml:3:5 The object "pod" is of kind v1 Pod; a sequence can contain only these kinds: Namespace, Service, Endpoints, EndpointSlice, Secret, ConfigMap, Event',
    ]);
  });

  test("is an error where a configuration is wrong", async () => {
    const reload = () => Promise.reject(new EngineError("CONFIG_VALUE", "Cannot read the configuration"));
    const result = await play(sequence(["{ at: 1s, reload: {} }"], ["{ quiescent: true }"]), { reload });
    expect(result.verdict).toBe("error");
    expect(messagesOf(result)).toEqual(["web.patch-test.yaml:20:9 Cannot read the configuration"]);
  });
});

test("what is skipped does not run, and says why", async () => {
  const text = "sequences: [{ it: waits, skip: not yet, expect: [{ host: { web: present } }] }]\n";
  expect(await play(text)).toMatchObject({ verdict: "skipped", reason: "not yet", failures: [] });
});
