import { expect, test } from "vitest";
import { settle } from "../../support/fake-clock.ts";
import { createWorld } from "./controller-world.ts";

test("a pause waits for a key that was handed out, although its reconcile has not begun yet", async () => {
  const done: boolean[] = [];
  const { queue, controller } = createWorld(async (_key, { signal }) => {
    await settle();
    done.push(signal.aborted);
  });
  controller.start();
  await settle();
  queue.add("shop/db");
  await controller.pause();
  // The reconcile knows of the pause.
  expect(done).toEqual([true]);
});
