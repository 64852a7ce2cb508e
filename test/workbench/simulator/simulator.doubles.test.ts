/** When the simulator's oracle S16 complains that readers still get a backend from two producers, and when it does not. */
import { describe, expect, test } from "vitest";
import type { BackendsMode } from "../../../src/engine/config/backends-mode.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../../../src/kube/object/resource.ts";
import type { Oracle } from "../../../src/workbench/simulator/model/history.ts";
import { doubles } from "../../../src/workbench/simulator/oracles/doubles.ts";
import { createHistory, endpointsWith, PLACE, sliceWith, tagged, WEB, type History } from "./simulator-history.ts";

const SLICE = { namespace: WEB.namespace, name: `${WEB.name}-a` };
const UNIT = "backends|shop/web";
const COPY = "endpoints|shop/web";
const HAND_BACK = "hand-back";

type Doing = (history: History) => Promise<void> | void;

/** A history in which the replica reconciles, does what it is told meanwhile, and its oracle says what it thinks of that. */
async function begin(...values: readonly [BackendsMode, ...BackendsMode[]]) {
  let oracle: Oracle | undefined;
  const history = await createHistory((world) => (oracle = doubles(world)), ...values);
  async function reconcile(id: string, during: Doing = () => undefined): Promise<string | undefined> {
    const watched = { replica: history.world.replicas[0]!, id };
    oracle!.began!(watched);
    await during(history);
    return oracle!.ended!(watched);
  }
  const misled = (id: string, how: "failure" | "lie") => oracle!.misled!({ replica: history.world.replicas[0]!, id }, how);
  return { history, reconcile, misled };
}

describe("a mirror comes while slices of the copy are made, so that", () => {
  async function beside() {
    const made = await begin("auto");
    await made.history.makes();
    await made.history.mirrors();
    made.history.shows();
    return made;
  }
  /** The reconcile of the Service has decided, and what follows is up to the copy. */
  async function decided() {
    const made = await beside();
    made.history.world.replicas[0]!.enqueue(COPY);
    expect(await made.reconcile(UNIT)).toBeUndefined();
    return made;
  }

  test("the reconcile of the Service must leave something to do for the copy", async () => {
    const { reconcile } = await beside();
    expect(await reconcile(UNIT)).toMatch(
      /^readers of vc\/web-x-shop-x-blue still get IPv4 10\.0\.0\.1:80\/TCP\/http from slices of the syncer and the mirror, although no reconcile/,
    );
  });

  test("the next one of the copy must send the mirror away", async () => {
    const { reconcile } = await decided();
    expect(await reconcile(COPY)).toContain("from slices of the syncer and the mirror after endpoints");
  });

  test.each<[string, (made: Awaited<ReturnType<typeof begin>>) => Doing]>([
    ["it does", () => (history) => history.labels("true")],
    [
      "it undoes an edit of the copy first",
      () => (history) => history.write(ENDPOINTS, { action: "update", side: "host", object: tagged(history.copy, "ours"), reason: "" }),
    ],
    [
      "a request fails",
      ({ misled }) =>
        () =>
          misled(COPY, "failure"),
    ],
    [
      "an answer is false",
      ({ misled }) =>
        () =>
          misled(COPY, "lie"),
    ],
    ["a user writes the copy meanwhile", () => (history) => history.user("host", ENDPOINTS, { ...history.copy, subsets: [] })],
    [
      "the mirror has done with it before",
      () => async (history) => {
        await history.user("host", ENDPOINTS, {
          ...history.copy,
          metadata: {
            ...history.copy.metadata,
            labels: { ...history.copy.metadata.labels, "endpointslice.kubernetes.io/skip-mirror": "true" },
          },
        });
        await history.mirrors();
      },
    ],
  ])("it is not complained of where %s", async (_what, doing) => {
    const made = await decided();
    expect(await made.reconcile(COPY, doing(made))).toBeUndefined();
  });

  test("a lie is believed for as long as the process lives, a failure allows one more reconcile", async () => {
    const failed = await decided();
    await failed.reconcile(COPY, () => failed.misled(COPY, "failure"));
    expect(await failed.reconcile(COPY)).toContain("still get");
    const deceived = await decided();
    await deceived.reconcile(COPY, () => deceived.misled(COPY, "lie"));
    expect(await deceived.reconcile(COPY)).toBeUndefined();
  });

  test("one that began before the Service had decided is not complained of", async () => {
    const { history, reconcile } = await beside();
    history.world.replicas[0]!.enqueue(COPY);
    expect(await reconcile(COPY, async () => expect(await reconcile(UNIT)).toBeUndefined())).toBeUndefined();
    expect(await reconcile(COPY)).toContain("still get");
  });

  test("nothing is asked of a replica whose caches do not show all of it", async () => {
    const { history, reconcile } = await decided();
    await history.user("tenant", ENDPOINT_SLICES, sliceWith({}, "10.0.0.2"));
    expect(await reconcile(COPY)).toBeUndefined();
    history.shows();
    // By what it sees now it has not decided yet.
    expect(await reconcile(COPY)).toBeUndefined();
    history.world.replicas[0]!.enqueue(COPY);
    expect(await reconcile(UNIT)).toBeUndefined();
    expect(await reconcile(COPY)).toContain("still get");
  });

  test("a mirror that was sent away has three seconds from the first reconcile that sees it", async () => {
    const { history, reconcile } = await beside();
    await history.labels("true");
    history.shows();
    expect(await reconcile(UNIT)).toBeUndefined();
    history.world.now += 2_999;
    expect(await reconcile(UNIT)).toBeUndefined();
    history.world.now += 1;
    expect(await reconcile(UNIT)).toContain("from slices of the syncer and the mirror, although the mirror had time to delete its slices,");
    expect(await reconcile(UNIT, () => history.removes("-m", { id: UNIT }))).toBeUndefined();
  });

  test("these are counted from a reconcile that has nothing left to write, each time again", async () => {
    const { history, reconcile } = await beside();
    await history.labels("true");
    history.shows();
    const writes = (annotation: string) =>
      reconcile(UNIT, async () => {
        const { metadata, ...slice } = history.slices("-0")[0]!;
        const object = { ...slice, metadata: { ...metadata, annotations: { ...metadata.annotations, "example.com/note": annotation } } };
        await history.write(ENDPOINT_SLICES, { action: "update", side: "host", object, reason: "" }, { id: UNIT });
        history.shows();
      });
    expect(await writes("first")).toBeUndefined();
    history.world.now += 3_000;
    expect(await reconcile(UNIT)).toBeUndefined();
    history.world.now += 2_999;
    expect(await writes("second")).toBeUndefined();
    history.world.now += 1;
    expect(await reconcile(UNIT)).toBeUndefined();
    history.world.now += 2_999;
    expect(await reconcile(UNIT)).toBeUndefined();
    history.world.now += 1;
    expect(await reconcile(UNIT)).toContain("although the mirror had time to delete its slices,");
  });
});

describe("copies of slices are beside what was made, so that", () => {
  async function beside(...kept: readonly string[]) {
    const made = await begin("auto");
    const { history } = made;
    await history.makes();
    await history.user("tenant", ENDPOINT_SLICES, sliceWith({}, "10.0.0.1"));
    await history.copies(ENDPOINT_SLICES, SLICE);
    if (!kept.includes("Endpoints")) await history.userDeletes("tenant", ENDPOINTS, WEB);
    if (!kept.includes("copy")) await history.userDeletes("host", ENDPOINTS, PLACE);
    history.shows();
    return made;
  }

  test("what was made goes with Endpoints and copy", async () => {
    const { history, reconcile } = await beside();
    expect(await reconcile(UNIT)).toContain("from slices of the syncer and copies of slices after backends");
    expect(await reconcile(UNIT, () => history.removes("-0", { id: UNIT }))).toBeUndefined();
  });

  test("nothing goes of what the tenant itself shows twice", async () => {
    const { reconcile } = await beside("Endpoints", "copy");
    expect(await reconcile(UNIT)).toBeUndefined();
    expect(await reconcile(COPY)).toBeUndefined();
  });
});

describe("with both kinds", () => {
  async function beside() {
    const made = await begin("both");
    const { history } = made;
    await history.user("tenant", ENDPOINT_SLICES, sliceWith({}, "10.0.0.1"));
    await history.copies(ENDPOINT_SLICES, SLICE);
    await history.mirrors();
    history.shows();
    return made;
  }

  test("the copy of Endpoints sends the mirror away once all slices have copies", async () => {
    const { history, reconcile } = await beside();
    expect(await reconcile(COPY)).toContain("from copies of slices and the mirror after endpoints");
    expect(await reconcile(COPY, () => history.labels("true"))).toBeUndefined();
  });

  test("but not before, since backends would be missing", async () => {
    const { history, reconcile } = await beside();
    const { metadata, ...slice } = sliceWith({}, "10.0.0.2");
    await history.user("tenant", ENDPOINT_SLICES, { ...slice, metadata: { ...metadata, name: "web-b" } });
    history.shows();
    expect(await reconcile(COPY)).toBeUndefined();
  });

  test("the copy is left to the next reconcile where an edit of the host goes to the tenant first", async () => {
    const { history, reconcile } = await beside();
    const flows: Doing = async () => {
      const object = { ...history.at("tenant", ENDPOINTS, WEB)!, ...{ subsets: endpointsWith("10.0.0.3")["subsets"] } };
      await history.write(ENDPOINTS, { action: "update", side: "tenant", object, reason: "" });
    };
    expect(await reconcile(COPY, flows)).toBeUndefined();
  });
});

describe("with both kinds, what was made of a copy that is gone stands beside copies of slices, so that it", () => {
  async function gone() {
    const made = await begin("auto", "both");
    const { history } = made;
    await history.makes();
    const [slice] = history.slices("-0");
    await history.user("tenant", ENDPOINT_SLICES, sliceWith({}, "10.0.0.1"));
    await history.copies(ENDPOINT_SLICES, SLICE);
    await history.userDeletes("tenant", ENDPOINTS, WEB);
    await history.userDeletes("host", ENDPOINTS, PLACE);
    history.change("both");
    history.shows();
    return { ...made, slice: slice! };
  }

  test("goes by the second look", async () => {
    const { history, reconcile } = await gone();
    expect(await reconcile(HAND_BACK)).toBeUndefined();
    expect(await reconcile(HAND_BACK)).toContain("from slices of the syncer and copies of slices after hand-back");
    expect(await reconcile(HAND_BACK, () => history.removes("-0", { id: HAND_BACK }))).toBeUndefined();
  });

  test("has two looks also where it reaches the host only after one", async () => {
    const { history, reconcile, slice } = await gone();
    await history.removes("-0");
    history.shows();
    expect(await reconcile(HAND_BACK)).toBeUndefined();
    const { uid: _uid, resourceVersion: _version, creationTimestamp: _at, ...metadata } = slice.metadata;
    await history.user("host", ENDPOINT_SLICES, { ...slice, metadata });
    history.shows();
    expect(await reconcile(HAND_BACK)).toBeUndefined();
    expect(await reconcile(HAND_BACK)).toContain("from slices of the syncer and copies of slices after hand-back");
  });
});

describe("with Endpoints alone", () => {
  async function beside(label: string | undefined) {
    const made = await begin("auto", "endpoints");
    const { history } = made;
    await history.makes();
    await history.labels("true");
    await history.mirrors();
    history.change("endpoints");
    await history.labels(label);
    history.shows();
    return made;
  }

  test("what was made goes by the first look after the mirror shows the same", async () => {
    const { history, reconcile } = await beside("false");
    expect(await reconcile(HAND_BACK)).toBeUndefined();
    await history.mirrors();
    history.shows();
    expect(await reconcile(HAND_BACK)).toContain("from slices of the syncer and the mirror after hand-back");
    expect(await reconcile(HAND_BACK, () => history.removes("-0", { id: HAND_BACK }))).toBeUndefined();
  });

  test("what has left no trace on the copy is left to people", async () => {
    const { history, reconcile } = await beside(undefined);
    await history.mirrors();
    history.shows();
    expect(await reconcile(HAND_BACK)).toBeUndefined();
  });
});
