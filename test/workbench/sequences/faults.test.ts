/** Faults in a sequence: the syncer survives them, and they really occur. */
import { afterAll, describe, expect, test } from "vitest";
import { disposeEngines, lineOf, messagesOf, play, sequence } from "./play.ts";

afterAll(disposeEngines);

const WEB = "{ at: 0s, tenant: { apply: web } }";
const EDIT = "{ at: 5s, tenant: { edit: web, set: { metadata.labels.tier: back } } }";
const COPIED = "{ quiescent: true, host: { web: { asserts: [{ equal: { path: metadata.labels.tier, value: back } }] } } }";

interface Case {
  readonly fault: string;
  readonly events: readonly string[];
  /** Expectations that hold with the fault, and would not hold without it. */
  readonly expect: readonly string[];
}

/** A fault at 4 s, an edit at 5 s; what a syncer without trouble would have done at 5.1 s has not happened yet, if the fault delays it. */
const LATE = "{ at: 5.01s, host: { writes: { exact: 1 } } }";

const CASES: readonly Case[] = [
  {
    fault: "{ watchExpired: tenant }",
    events: [WEB, "{ at: 4s, fault: { lostEvent: tenant } }", EDIT, "{ at: 9s, fault: { watchExpired: tenant } }"],
    expect: ["{ at: 9s, host: { writes: { exact: 1 } } }", COPIED],
  },
  {
    fault: "{ watchCut: tenant, for: 10s }",
    events: [WEB, "{ at: 4s, fault: { watchCut: tenant, for: 10s } }", EDIT],
    expect: ["{ at: 13s, quiescent: false, host: { writes: { exact: 1 } } }", "{ at: 15s, host: { writes: { exact: 2 } } }", COPIED],
  },
  {
    fault: "{ lostEvent: tenant }",
    events: [WEB, "{ at: 4s, fault: { lostEvent: tenant } }", EDIT],
    expect: ["{ quiescent: true, host: { writes: { exact: 1 } } }"],
  },
  {
    fault: "{ lateList: tenant }",
    events: [WEB, "{ at: 4s, fault: { watchCut: tenant, for: 4s } }", EDIT, "{ at: 6s, fault: { lateList: tenant } }"],
    expect: ["{ at: 7s, host: { writes: { exact: 1 } } }", COPIED],
  },
  {
    fault: "{ crash: syncer, for: 5s, behind: 1 }",
    events: [WEB, "{ at: 4s, fault: { crash: syncer, for: 5s, behind: 1 } }", EDIT],
    expect: [
      "{ at: 8s, quiescent: false, host: { writes: { exact: 1 } } }",
      "{ at: 9.001s, host: { writes: { exact: 1 } } }",
      "{ host: { writes: { exact: 2 } } }",
      COPIED,
    ],
  },
  {
    fault: "{ emptyList: tenant, for: 10s }",
    events: [WEB, "{ at: 4s, fault: { emptyList: tenant, for: 10s } }", EDIT],
    expect: ["{ at: 8s, host: { web: present }, quiescent: false }", COPIED],
  },
  {
    fault: "{ down: tenant, for: 10s }",
    events: [WEB, "{ at: 4s, fault: { down: tenant, for: 10s } }", "{ at: 5s, tenant: { delete: web } }"],
    expect: ["{ at: 13s, host: { web: present } }", "{ quiescent: true, host: { web: absent } }"],
  },
  {
    fault: "{ down: tenant, for: 8s }",
    events: [WEB, "{ at: 4s, fault: { down: tenant, for: 8s } }", EDIT],
    expect: ["{ at: 11s, quiescent: false, host: { writes: { exact: 1 } } }", COPIED],
  },
  {
    fault: "{ down: host, for: 10s }",
    events: [WEB, "{ at: 4s, fault: { down: host, for: 10s } }", EDIT],
    expect: ["{ at: 13s, host: { writes: { exact: 1 } } }", COPIED],
  },
  {
    fault: "{ crash: syncer }",
    events: [WEB, "{ at: 4s, fault: { crash: syncer } }"],
    expect: ["{ at: 4s, quiescent: false }", "{ quiescent: true, host: { web: present, writes: { exact: 1 } } }"],
  },
  {
    fault: "{ stall: syncer, for: 20s }",
    events: [WEB, "{ at: 4s, fault: { stall: syncer, for: 20s } }", EDIT],
    expect: ["{ at: 24s, host: { writes: { exact: 1 } } }", COPIED],
  },
  { fault: "{ lostRequest: host }", events: [WEB, "{ at: 4s, fault: { lostRequest: host } }", EDIT], expect: [LATE, COPIED] },
  {
    fault: "{ lostAnswer: host, times: 2 }",
    events: [WEB, "{ at: 4s, fault: { lostAnswer: host, times: 2 } }", EDIT, "{ at: 7s, tenant: { delete: web } }"],
    expect: [
      "{ at: 5.01s, quiescent: false, host: { writes: { exact: 2 } } }",
      "{ quiescent: true, host: { web: absent, writes: { exact: 3 } } }",
    ],
  },
  {
    fault: "{ lateWrite: host, for: 3s }",
    events: [WEB, "{ at: 4s, fault: { lateWrite: host, for: 3s } }", EDIT],
    expect: [LATE, "{ at: 7.1s, host: { writes: { exact: 2 } } }", COPIED],
  },
  { fault: "{ answered: 403 }", events: [WEB, "{ at: 4s, fault: { answered: 403 } }", EDIT], expect: [LATE, COPIED] },
  { fault: "{ answered: 409, times: 3 }", events: [WEB, "{ at: 4s, fault: { answered: 409, times: 3 } }", EDIT], expect: [LATE, COPIED] },
  {
    fault: "{ answered: 422 }",
    events: [WEB, "{ at: 4s, fault: { answered: 422 } }", EDIT],
    expect: [
      "{ at: 50s, quiescent: true, host: { writes: { exact: 1 } }, tenant: { web: { notes: [API_INVALID], events: [ApiInvalid] } } }",
      COPIED,
    ],
  },
  { fault: "{ answered: 429 }", events: [WEB, "{ at: 4s, fault: { answered: 429 } }", EDIT], expect: [LATE, COPIED] },
  {
    fault: "{ answered: 503, on: tenant }",
    events: [WEB, "{ at: 4s, fault: { answered: 503, on: tenant } }", "{ at: 5s, tenant: { delete: web } }"],
    expect: [LATE, "{ host: { web: absent } }"],
  },
  {
    fault: "{ rival: web, times: 2 }",
    events: [WEB, "{ at: 4s, fault: { rival: web, times: 2 } }", EDIT],
    expect: [COPIED, `{ host: { web: { asserts: [{ equal: { path: 'metadata.annotations["example.com/rival"]', value: "2" } }] } } }`],
  },
];

describe.each(CASES)("$fault", ({ events, expect: expected }) => {
  test("is come through", async () => {
    const result = await play(sequence(events, expected));
    expect(messagesOf(result)).toEqual([]);
  });

  test("breaks something: without it, what was expected does not hold", async () => {
    const without = events.filter((event) => !event.includes("fault:"));
    const result = await play(sequence(without, expected));
    expect(result.verdict).toBe("failed");
  });
});

test("a crash is part of the story", async () => {
  const result = await play(sequence([WEB, "{ at: 4s, fault: { crash: syncer } }"], ["{ at: 5s, quiescent: false }"]));
  expect(result.failures[0]!.explanation!.split("\n").slice(2)).toEqual([
    "       4s  fault   the syncer crashes",
    "       4s  syncer  starts again",
  ]);
});

test("a crash between a write and its answer loses nothing", async () => {
  const events = [WEB, "{ at: 2ms, tenant: { edit: web, set: { metadata.labels.tier: back } } }", "{ at: 3ms, fault: { crash: syncer } }"];
  const result = await play(sequence(events, [COPIED, "{ host: { writes: { exact: 2 } } }"]));
  expect(messagesOf(result)).toEqual([]);
});

test.each(["{ lostAnswer: host }", "{ lostEvent: host }", "{ rival: web }", "{ answered: 409 }"])(
  "a fault that nothing meets is an error: %s",
  async (fault) => {
    const text = sequence([WEB, `{ at: 4s, fault: ${fault} }`], ["{ quiescent: true }"]);
    const result = await play(text);
    expect(result.verdict).toBe("error");
    expect(messagesOf(result)).toEqual([
      "web.patch-test.yaml:21:9 The fault was still waiting for a request or an event at the end of the sequence",
    ]);
    expect(lineOf(text, result.failures[0]!.place)).toContain(fault);
  },
);

const SEVERAL = `settings: { deleteBrake: { count: 1, percent: 1 } }
objects:
  one: { apiVersion: v1, kind: Endpoints, metadata: { name: one, namespace: shop }, subsets: [] }
  two: { apiVersion: v1, kind: Endpoints, metadata: { name: two, namespace: shop }, subsets: [] }
  blue: { apiVersion: v1, kind: Service, metadata: { name: blue, namespace: vc-blue }, spec: { ports: [{ port: 443 }] } }
`;

test("what the delete brake says is heard on the host", async () => {
  const events = [
    "{ at: 0s, tenant: { apply: one } }",
    "{ at: 0s, tenant: { apply: two } }",
    "{ at: 5s, fault: { emptyList: tenant, for: 10s } }",
  ];
  const expected = ["{ at: 5s, host: { events: [] } }", "{ host: { one: present, two: present, events: [DeleteBrake] } }"];
  expect(messagesOf(await play(sequence(events, expected, SEVERAL)))).toEqual([]);
});

test("copies belong to the Service of the virtual cluster, as they do in a real host", async () => {
  const events = ["{ at: 0s, host: { apply: blue } }", "{ at: 1s, tenant: { apply: one } }"];
  const owned = "{ host: { one: { asserts: [{ equal: { path: 'metadata.ownerReferences[0].name', value: blue } }] } } }";
  expect(messagesOf(await play(sequence(events, [owned], SEVERAL)))).toEqual([]);
});
