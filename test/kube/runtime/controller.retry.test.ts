import { expect, test } from "vitest";
import { EngineError } from "../../../src/base/errors.ts";
import { createWorld } from "./controller-world.ts";

test("asks again soon when a server refuses once after an outage, since it does not know its roles yet", async () => {
  const errors = Array.from({ length: 40 }, () => new EngineError("API_UNAVAILABLE", "It is away"));
  errors.push(new EngineError("API_FORBIDDEN", "Not yet"));
  let done = false;
  const { queue, controller, clock, lines } = createWorld(async () => {
    const error = errors.shift();
    if (error !== undefined) throw error;
    done = true;
  });
  controller.start();
  queue.add("shop/db");
  while (errors.length > 0) await clock.advance(1_000);
  expect(lines.at(-1)!.fields).toMatchObject({ code: "API_FORBIDDEN", failures: 0, retryMs: 1_000 });
  await clock.advance(1_000);
  expect(done).toBe(true);
  await controller.stop();
});
