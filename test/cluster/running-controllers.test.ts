/** Which controllers of a cluster run, from its start and while it runs. */
import { describe, expect, test } from "vitest";
import { createEmbeddedCluster, type ControllerName } from "../../src/clusters.ts";
import { CONTROLLER_NAMES, controllerNamed, selectControllers } from "../../src/cluster/controllers/running/controller-selection.ts";
import { createMemoryStore } from "../../src/apiserver/store/memory/memory-store.ts";
import { isEngineError, type EngineError } from "../../src/base/errors.ts";
import { CLUSTER_ROLES } from "../../src/cluster/rbac/resources.ts";
import { ENDPOINT_SLICES, ENDPOINTS, SERVICES } from "../../src/kube/object/resource.ts";
import { createSeededChance } from "../apiserver/seeded-chance.ts";
import { createFakeClock } from "../support/fake-clock.ts";

const MIRROR = "endpointslice-mirroring-controller";
const KEY = { namespace: "default", name: "db" };

const failure = (act: () => unknown): EngineError => {
  try {
    act();
  } catch (error) {
    if (isEngineError(error)) return error;
  }
  throw new Error("Nothing was thrown");
};

async function setup(controllers?: readonly string[]) {
  const store = createMemoryStore();
  const options = { clock: createFakeClock(), chance: createSeededChance(), store, ...(controllers && { controllers }) };
  const cluster = await createEmbeddedCluster(options);
  const { registry, client, settled } = cluster;
  await registry.create(SERVICES, "default", { metadata: { name: "db" }, spec: { ports: [{ port: 80 }] } });
  const write = (ip: string) =>
    registry.update(ENDPOINTS, KEY, { metadata: { name: "db" }, subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] });
  const mirrored = async () => {
    await settled();
    const { items } = await client.list(ENDPOINT_SLICES, { namespace: "default", labelSelector: "kubernetes.io/service-name=db" });
    return items.flatMap((slice) => (slice["endpoints"] as readonly { addresses: readonly string[] }[]).flatMap((one) => one.addresses));
  };
  return { ...cluster, store, write, mirrored };
}

describe("a list of controllers", () => {
  test.each([
    { list: ["*"], selected: CONTROLLER_NAMES },
    { list: [], selected: [] },
    { list: ["endpoints-controller"], selected: ["endpoints-controller"] },
    { list: ["*", `-${MIRROR}`], selected: CONTROLLER_NAMES.filter((name) => name !== MIRROR) },
    { list: [`-${MIRROR}`, "*"], selected: CONTROLLER_NAMES.filter((name) => name !== MIRROR) },
    { list: ["*", "-endpointslicemirroring"], selected: CONTROLLER_NAMES.filter((name) => name !== MIRROR) },
    { list: ["endpoint", "-endpoints-controller"], selected: ["endpoints-controller"] },
    { list: ["-endpoints-controller", "endpoint", "namespace"], selected: ["namespace-controller"] },
  ])("$list is read as kube-controller-manager reads it", ({ list, selected }) => {
    expect(selectControllers(list)).toEqual(selected);
  });

  test.each([
    { text: "endpoint-controller", hint: 'Did you mean "endpoints-controller"?' },
    { text: "endpointslicemiroring", hint: 'Did you mean "endpointslicemirroring"?' },
    { text: "Namespace-Controller", hint: 'Did you mean "namespace-controller"?' },
    { text: "quantum", hint: `There are ${CONTROLLER_NAMES.join(", ")}` },
  ])("$text is refused with what may be meant", ({ text, hint }) => {
    for (const list of [[text], ["*", `-${text}`]]) {
      const error = failure(() => selectControllers(list));
      expect([error.code, error.message, error.details.hint]).toEqual(["USAGE", `No controller is called "${text}"`, hint]);
    }
  });

  test("that only leaves out is refused", () => {
    const error = failure(() => selectControllers([`-${MIRROR}`, "-endpoints-controller"]));
    expect([error.code, error.details.hint]).toEqual(["USAGE", `Put "*" before it: *,-${MIRROR},-endpoints-controller`]);
  });

  test.each(CONTROLLER_NAMES)("knows %s", (name) => expect(controllerNamed(name)).toBe(name));
});

describe("a cluster", () => {
  test("runs all of them", async () => {
    const { controllers } = await setup();
    expect(controllers.running()).toEqual(CONTROLLER_NAMES);
  });

  test("runs without any, and its roles are empty then", async () => {
    const { controllers, client, write, mirrored } = await setup([]);
    await write("10.1.0.1");
    expect([controllers.running(), await mirrored()]).toEqual([[], []]);
    expect(await client.get(CLUSTER_ROLES, { namespace: "", name: "view" })).toMatchObject({ rules: [] });
  });

  test("does not start with an unknown one", async () => {
    await expect(setup(["*", "-mirror"])).rejects.toMatchObject({ code: "USAGE" });
  });
});

describe("while a cluster runs", () => {
  test("a controller that is stopped writes nothing, and one that is started makes up for it", async () => {
    const { controllers, write, mirrored, store } = await setup();
    await write("10.1.0.1");
    expect(await mirrored()).toEqual(["10.1.0.1"]);
    await controllers.stop(MIRROR);
    const revision = await store.revision();
    await write("10.1.0.2");
    expect(await mirrored()).toEqual(["10.1.0.1"]);
    expect(await store.revision()).toBe(revision + 1);
    expect(controllers.running()).not.toContain(MIRROR);
    await controllers.start(MIRROR);
    expect(await mirrored()).toEqual(["10.1.0.2"]);
    expect(controllers.running()).toEqual(CONTROLLER_NAMES);
  });

  test("a stop waits for the write under way", async () => {
    const { controllers, write, store } = await setup();
    await write("10.1.0.1");
    await controllers.stop(MIRROR);
    const revision = await store.revision();
    await new Promise(setImmediate);
    expect(await store.revision()).toBe(revision);
  });

  test.each(CONTROLLER_NAMES)("%s is stopped and started, any number of times and at once", async (name) => {
    const { controllers, settled } = await setup();
    await Promise.all([controllers.stop(name), controllers.stop(name), controllers.start(name), controllers.start(name)]);
    expect(controllers.running()).toEqual(CONTROLLER_NAMES);
    await Promise.all([controllers.start(name), controllers.stop(name)]);
    expect(controllers.running()).toEqual(CONTROLLER_NAMES.filter((one) => one !== name));
    await settled();
  });

  test("one that is started twice works once", async () => {
    const { controllers, write, mirrored, client } = await setup();
    await Promise.all([controllers.stop(MIRROR), controllers.start(MIRROR), controllers.start(MIRROR)]);
    await write("10.1.0.1");
    await controllers.stop(MIRROR);
    await write("10.1.0.2");
    await mirrored();
    const { items } = await client.list(ENDPOINT_SLICES, { namespace: "default", labelSelector: "kubernetes.io/service-name=db" });
    expect(items.length).toBeLessThanOrEqual(1);
    expect(await mirrored()).not.toContain("10.1.0.2");
  });

  test("an unknown one is refused, and the others go on", async () => {
    const { controllers, write, mirrored } = await setup();
    const unknown = "mirror" as ControllerName;
    await expect(controllers.stop(unknown)).rejects.toMatchObject({ code: "USAGE" });
    await expect(controllers.start(unknown)).rejects.toMatchObject({ code: "USAGE" });
    await write("10.1.0.1");
    expect(await mirrored()).toEqual(["10.1.0.1"]);
  });

  test("none starts in a cluster that has stopped", async () => {
    const { controllers, stop } = await setup(["*", `-${MIRROR}`]);
    await stop();
    await expect(controllers.start(MIRROR)).rejects.toMatchObject({ code: "USAGE" });
    expect(controllers.running()).toEqual([]);
  });
});
