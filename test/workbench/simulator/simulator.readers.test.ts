/** What the simulator's oracles of readers excuse: each history with its excuse, and the same without it, which breaks the promise. */
import { describe, expect, test } from "vitest";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../../src/kube/object/resource.ts";
import type { Service } from "../../../src/kube/object/types.ts";
import { checkReaders, readers } from "../../../src/workbench/simulator/oracles/readers.ts";
import { createHistory, endpointsWith, PLACE, sliceWith, tagged, TENANT_MIRROR, WEB, type History } from "./simulator-history.ts";

const SLICE = { namespace: WEB.namespace, name: `${WEB.name}-a` };
const OF_PODS = { "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" };
const LOST = /^readers of vc\/web-x-shop-x-blue lose IPv4 10\.0\.0\.1/;

/** Slices were made of the copy, which sends the mirror away, and `beside` happens before they are deleted. */
async function deletedAfter(values: Parameters<typeof createHistory>[1][], beside: (history: History) => Promise<number | void>) {
  const [first, ...rest] = values;
  const history = await createHistory(readers, first!, ...rest);
  await history.labels("true");
  await history.makes();
  const since = await beside(history);
  await history.removes("-0", typeof since === "number" ? { since } : {});
  return history;
}

describe("a backend that a syncer takes from readers is excused where", () => {
  test.each([
    ["the tenant itself did not show it at the version that the copy is written from", [], false],
    ["but not where its Endpoints showed it all the time", ["10.0.0.1"], true],
  ])("%s", async (_what, between, isWrong) => {
    const history = await createHistory(readers, "auto");
    await history.user("tenant", ENDPOINT_SLICES, sliceWith(TENANT_MIRROR, "10.0.0.1"));
    await history.copies(ENDPOINT_SLICES, SLICE);
    await history.user("tenant", ENDPOINTS, endpointsWith(...between));
    await history.user("tenant", ENDPOINT_SLICES, sliceWith(TENANT_MIRROR));
    // Only the slice is brought across; the Endpoints are as before again when their turn comes.
    await history.copies(ENDPOINT_SLICES, SLICE);
    expect(history.wrong ?? "").toMatch(isWrong ? LOST : /^$/);
  });

  test.each([
    [
      "slices alone are written, and there are no Endpoints to tell of",
      ["auto", "slices"],
      async (history: History) => history.change("slices"),
      false,
    ],
    ["both kinds are written, and a copy of a slice is beside", ["auto", "both"], both(true), false],
    ["but not where both kinds are written and no copy is beside", ["auto", "both"], both(false), true],
    ["but not where Endpoints are copied, slices made, and nothing takes their place", ["auto"], async () => undefined, true],
    ["copies of slices of Pods take the place of Endpoints, and Pods do not have it", ["auto"], ofPods("10.0.0.2"), false],
    ["but not where Pods have it, and the copies do not yet", ["auto"], ofPods("10.0.0.2", "10.0.0.1"), true],
  ] as const)("%s", async (_what, values, beside, isWrong) => {
    const history = await deletedAfter([...values], beside);
    expect(history.wrong ?? "").toMatch(isWrong ? LOST : /^$/);
  });

  test.each([
    ["a slice of Pods goes before the other one, which alone is the source for a moment", ["a", "b"], false],
    ["but not where it is the last one to go", ["b", "a"], true],
  ])("%s", async (_what, order, isWrong) => {
    const history = await createHistory(readers, "auto");
    const [first, second] = [sliceWith(OF_PODS, "10.0.0.1"), sliceWith(OF_PODS, "fd00::1")];
    const other = { ...second, metadata: { ...second.metadata, name: `${WEB.name}-b` }, addressType: "IPv6" };
    for (const slice of [first, other]) {
      await history.user("tenant", ENDPOINT_SLICES, slice);
      await history.copies(ENDPOINT_SLICES, { namespace: WEB.namespace, name: slice.metadata.name! });
    }
    for (const end of order) await history.userDeletes("tenant", ENDPOINT_SLICES, { namespace: WEB.namespace, name: `${WEB.name}-${end}` });
    await history.removes(`${WEB.name}-a`);
    expect(history.wrong ?? "").toMatch(isWrong ? LOST : /^$/);
  });

  test.each([
    ["two replicas each remove what the other one relies on", 1, false],
    ["but not where one replica removes both", 0, true],
  ])("%s", async (_what, index, isWrong) => {
    const history = await createHistory(readers, "auto");
    await history.user("tenant", ENDPOINT_SLICES, sliceWith(OF_PODS, "10.0.0.1"));
    await history.copies(ENDPOINT_SLICES, SLICE);
    await history.labels("true");
    await history.makes();
    const since = history.revision;
    await history.removes("-0", { index });
    await history.removes(`${WEB.name}-a`, { since });
    expect(history.wrong ?? "").toMatch(isWrong ? LOST : /^$/);
  });

  test.each([
    ["with both kinds, a slice is gone from the tenant, too, whatever other slices contain", "both", false],
    ["but not where a decision depends on them, and another slice of the tenant contains it", "auto", true],
  ] as const)("%s", async (_what, backends, isWrong) => {
    const history = await createHistory(readers, backends);
    const slice = sliceWith(TENANT_MIRROR, "10.0.0.1");
    await history.user("tenant", ENDPOINT_SLICES, slice);
    await history.copies(ENDPOINT_SLICES, SLICE);
    await history.user("tenant", ENDPOINT_SLICES, { ...slice, metadata: { ...slice.metadata, name: `${WEB.name}-b` } });
    await history.userDeletes("tenant", ENDPOINT_SLICES, SLICE);
    await history.removes(`${WEB.name}-a`);
    expect(history.wrong ?? "").toMatch(isWrong ? LOST : /^$/);
  });

  test("the tenant has nothing left of the Service, and other Endpoints are in the place of the copy", async () => {
    const history = await createHistory(readers, "auto");
    await history.user("tenant", ENDPOINT_SLICES, sliceWith(OF_PODS, "10.0.0.1"));
    await history.copies(ENDPOINT_SLICES, SLICE);
    await history.userDeletes("tenant", ENDPOINT_SLICES, SLICE);
    await history.userDeletes("tenant", ENDPOINTS, WEB);
    await history.user("host", ENDPOINTS, { ...endpointsWith("10.0.0.1"), metadata: PLACE });
    const service = history.at("host", SERVICES, PLACE) as Service;
    await history.user("host", SERVICES, { ...service, metadata: PLACE });
    await history.removes(`${WEB.name}-a`);
    expect(history.wrong).toBeUndefined();
  });

  test.each([
    ["its host Service has no markers any more", false],
    ["but not where it still is the copy", true],
  ])("the copy of a slice that the setting no longer copies goes, and %s", async (_what, isCopied) => {
    const history = await createHistory(readers, "auto");
    await history.user("tenant", ENDPOINT_SLICES, sliceWith(TENANT_MIRROR, "10.0.0.1"));
    await history.copies(ENDPOINT_SLICES, SLICE);
    const service = history.at("host", SERVICES, PLACE) as Service;
    if (!isCopied) await history.user("host", SERVICES, { ...service, metadata: PLACE });
    await history.removes(`${WEB.name}-a`);
    expect(history.wrong ?? "").toMatch(isCopied ? LOST : /^$/);
  });

  test.each([
    ["its host Service has a selector when the reconcile begins", true],
    ["but not if the selector is gone before the reconcile begins", false],
  ])("%s", async (_what, isBefore) => {
    const history = await createHistory(readers, "auto");
    await history.user("tenant", ENDPOINT_SLICES, sliceWith(TENANT_MIRROR, "10.0.0.1"));
    await history.copies(ENDPOINT_SLICES, SLICE);
    const service = history.at("host", SERVICES, PLACE) as Service;
    await history.user("host", SERVICES, { ...service, spec: { ...service.spec, selector: { app: "a" } } });
    const since = history.revision;
    await history.user("host", SERVICES, service);
    await history.removes(`${WEB.name}-a`, isBefore ? { since } : {});
    expect(history.wrong ?? "").toMatch(isBefore ? /^$/ : LOST);
  });

  test.each([
    ["its host Service appears only after the reconcile has begun", true],
    ["but not where the reconcile begins with it", false],
  ])("%s", async (_what, isBefore) => {
    const history = await createHistory(readers, "auto");
    await history.user("tenant", ENDPOINT_SLICES, sliceWith(TENANT_MIRROR, "10.0.0.1"));
    await history.copies(ENDPOINT_SLICES, SLICE);
    await history.userDeletes("host", SERVICES, PLACE);
    const since = history.revision;
    await history.copies(SERVICES, WEB);
    await history.removes(`${WEB.name}-a`, isBefore ? { since } : {});
    expect(history.wrong ?? "").toMatch(isBefore ? /^$/ : LOST);
  });

  test.each([
    ["others write slices beside the Service", async (history: History) => editsSlices(history), false],
    [
      "others wrote there after the reconcile had begun, though the setting has changed since",
      async (history: History) => {
        const since = history.revision;
        await editsSlices(history);
        history.world.notice("backends");
        return since;
      },
      false,
    ],
    [
      "but not where they wrote before it began, and the setting has changed since",
      async (history: History) => {
        await editsSlices(history);
        history.world.notice("backends");
      },
      true,
    ],
    ["the host's users have given the host Service a selector", async (history: History) => select({ app: "web" })(history), false],
    [
      "but not where they have taken it away again",
      async (history: History) => {
        await select({ app: "web" })(history);
        await select(undefined)(history);
      },
      true,
    ],
    [
      "others last wrote the very slice, though the setting has changed since",
      async (history: History) => {
        await history.user("host", ENDPOINT_SLICES, tagged(history.slices("-0")[0]!, "theirs"));
        history.world.notice("backends");
      },
      false,
    ],
    [
      "but not where a replica wrote it after them",
      async (history: History) => {
        await history.user("host", ENDPOINT_SLICES, tagged(history.slices("-0")[0]!, "theirs"));
        await history.write(ENDPOINT_SLICES, {
          action: "update",
          side: "host",
          object: tagged(history.slices("-0")[0]!, "ours"),
          reason: "",
        });
        history.world.notice("backends");
      },
      true,
    ],
  ] as const)("%s", async (_what, beside, isWrong) => {
    const history = await deletedAfter(["auto"], beside);
    expect(history.wrong ?? "").toMatch(isWrong ? LOST : /^$/);
  });

  test.each([
    ["others wrote slices after the syncer had decided to send the mirror away", "auto", true, false],
    ["but not where the syncer saw all that there was", "auto", false, true],
    ["with both kinds, where what is copied takes the place of the mirror's slices", "both", false, false],
  ] as const)("a mirror takes it along: %s", async (_what, by, isLate, isWrong) => {
    const history = await createHistory(readers, "auto", "both");
    await history.mirrors();
    const since = history.revision;
    await editsSlices(history);
    history.world.notice("backends");
    await history.labels("true", { by, ...(isLate && { since }) });
    await history.mirrors();
    expect(history.slices("-m")).toEqual([]);
    expect(history.wrong ?? "").toMatch(isWrong ? LOST : /^$/);
  });
});

test.each([
  ["have taken the place of what it was sent away for", true, false],
  ["are not there", false, true],
] as const)(
  "a late mirror takes a backend along where both kinds are written by now, and copies of slices %s",
  async (_what, isCopied, isWrong) => {
    const history = await createHistory(readers, "auto", "both");
    await history.mirrors();
    await history.labels("true");
    await both(isCopied)(history);
    await history.mirrors();
    expect(history.slices("-m")).toEqual([]);
    expect(history.wrong ?? "").toMatch(isWrong ? LOST : /^$/);
  },
);

test("a mirror takes a backend along that was sent away by a configuration that had been replaced", async () => {
  const history = await createHistory(readers, "auto", "both");
  await history.mirrors();
  await both(false)(history);
  await history.labels("true", { by: "auto" });
  await history.mirrors();
  expect([history.slices("-m"), history.wrong]).toEqual([[], undefined]);
});

/** Both kinds are written from now on, and the tenant has a slice with another address. */
function both(isCopied: boolean) {
  return async (history: History) => {
    history.change("both");
    await history.user("tenant", ENDPOINT_SLICES, sliceWith({}, "10.0.0.2"));
    if (isCopied) await history.copies(ENDPOINT_SLICES, SLICE);
  };
}

/** A slice of Pods is copied, which gets further addresses afterwards. */
function ofPods(first: string, ...more: readonly string[]) {
  return async (history: History) => {
    await history.user("tenant", ENDPOINT_SLICES, sliceWith(OF_PODS, first));
    await history.copies(ENDPOINT_SLICES, SLICE);
    await history.user("tenant", ENDPOINT_SLICES, sliceWith(OF_PODS, first, ...more));
  };
}

/** A user of the host has a slice of the Service, which says nothing. */
async function editsSlices(history: History): Promise<void> {
  const { metadata, ...slice } = sliceWith({});
  const labels = { ...metadata.labels, "kubernetes.io/service-name": PLACE.name };
  await history.user("host", ENDPOINT_SLICES, { ...slice, metadata: { namespace: PLACE.namespace, name: "by-hand", labels } });
}

function select(selector: Readonly<Record<string, string>> | undefined) {
  return (history: History) => {
    const service = history.at("host", SERVICES, PLACE) as Service;
    const { selector: _before, ...spec } = service.spec ?? {};
    return history.user("host", SERVICES, { ...service, spec: { ...spec, ...(selector && { selector }) } });
  };
}

const TWICE = "readers of shop/web get slices from the mirror and from the syncer";

test.each([
  ["no label ever told that slices were made", async () => undefined],
  ["the copy had the label", async (history: History) => relabelled(history)],
  [
    "others deleted the copy, and the label with it",
    async (history: History) => {
      await history.labels("true");
      await history.userDeletes("host", ENDPOINTS, PLACE);
      await history.copies(ENDPOINTS, WEB);
    },
  ],
  [
    "the host's controller wrote the copy, and left no label on it",
    async (history: History) => {
      await history.labels("true");
      await history.user("host", ENDPOINTS, { ...history.copy, metadata: { ...history.copy.metadata, labels: {} } });
      await history.copies(ENDPOINTS, WEB);
    },
  ],
] as const)("slices left beside a mirror's are never excused with Endpoints alone, also where %s", async (_what, between) => {
  const history = await createHistory(readers, "auto", "endpoints");
  await history.makes();
  await between(history);
  history.change("endpoints");
  await history.mirrors();
  expect([history.slices("-0").length, history.slices("-m").length]).toEqual([1, 1]);
  expect(checkReaders(history.world)?.message).toBe(TWICE);
});

test.each([
  ["a slice of another syncer beside that says the same is read", "auto", { "other.example/object-name": "web" }, false],
  ["but not one that no syncer has marked", "auto", {}, true],
  ["but not where the host's mirror shows each copy", "both", { "other.example/object-name": "web" }, true],
] as const)("what readers miss of a copy: %s", async (_what, mode, annotations, isWrong) => {
  const history = await createHistory(readers, mode);
  history.world.mirroring = mode === "both";
  const { metadata, ...slice } = sliceWith({}, "10.0.0.1");
  const labels = { "kubernetes.io/service-name": PLACE.name };
  await history.user("host", ENDPOINT_SLICES, { ...slice, metadata: { ...metadata, namespace: PLACE.namespace, labels, annotations } });
  expect(checkReaders(history.world)?.message).toBe(isWrong ? "readers of shop/web miss IPv4 10.0.0.1:80/TCP/http" : undefined);
});

test.each([
  [60_000, 1],
  [60_001, 0],
])("a write whose process has ended reaches a server within the time that this has for a request: after %d ms, %d", async (ms, count) => {
  const history = await createHistory(readers, "auto");
  await history.makesLate(ms);
  expect(history.slices("-0")).toHaveLength(count);
});

async function relabelled(history: History): Promise<void> {
  await history.labels("true");
  await history.labels(undefined);
}
