import { systemClock } from "../../base/clock.ts";
import type { WorkerLike } from "../channel.ts";
import { createSettings } from "./settings.ts";
import { startWorker } from "./start-worker.ts";
import { createWorkbench } from "./workbench.ts";

const { elements } = createWorkbench({
  clock: systemClock,
  settings: createSettings(() => localStorage),
  startWorker: () => startWorker() as WorkerLike,
  examples: [],
  first: { config: "", tenant: "" },
  linkTo: () => Promise.resolve(location.href),
  testFile: () => "",
});
document.body.append(...elements);
