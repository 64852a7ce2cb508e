import { describe, expect, test } from "vitest";
import { EngineError } from "../../src/base/errors.ts";
import { createLineLogger } from "../../src/base/logger.ts";
import { createKeyWorker } from "../../src/cluster/controllers/key-worker.ts";

function setup(reconcile: (key: string, attempt: number) => Promise<void>) {
  const lines: string[] = [];
  const seen: string[] = [];
  const logger = createLineLogger({ now: () => 0, write: (line) => lines.push(line) });
  const worker = createKeyWorker({
    name: "test",
    logger,
    reconcile: (key) => {
      seen.push(key);
      return reconcile(key, seen.length);
    },
  });
  return { worker, seen, lines };
}

describe("a worker of keys", () => {
  test("takes a key once, however often it was added before its turn", async () => {
    const { worker, seen } = setup(async () => {});
    for (const key of ["a", "b", "a", "a"]) worker.add(key);
    expect(seen).toEqual([]);
    await worker.settled();
    expect(seen).toEqual(["a", "b"]);
  });

  test("takes a key again that is added while it is worked on", async () => {
    const { worker, seen } = setup(async (key, attempt) => void (attempt === 1 && worker.add(key)));
    worker.add("a");
    await worker.settled();
    expect(seen).toEqual(["a", "a"]);
  });

  test("comes back to a key after a conflict, quietly", async () => {
    const { worker, seen, lines } = setup(async (_key, attempt) => {
      if (attempt < 3) throw new EngineError("API_CONFLICT", "Another writer was faster");
    });
    worker.add("a");
    await worker.settled();
    expect([seen, lines]).toEqual([["a", "a", "a"], []]);
  });

  test("gives a key up that never ends in anything but conflicts, and says so", async () => {
    const { worker, seen, lines } = setup(() => Promise.reject(new EngineError("API_CONFLICT", "Another writer was faster")));
    worker.add("a");
    await worker.settled();
    expect([seen.length, lines.length]).toEqual([100, 1]);
  });

  test("reports a failure once and goes on with the next key", async () => {
    const { worker, seen, lines } = setup(async (key) => {
      if (key === "a") throw new Error("a bug");
    });
    worker.add("a");
    worker.add("b");
    await worker.settled();
    expect([seen, lines.length]).toEqual([["a", "b"], 1]);
  });

  test("takes nothing more once it is stopped", async () => {
    const { worker, seen } = setup(async () => worker.stop());
    worker.add("a");
    worker.add("b");
    await worker.settled();
    worker.add("c");
    await worker.settled();
    expect(seen).toEqual(["a"]);
  });
});
