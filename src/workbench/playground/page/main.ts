/** Starts the page: with the state of the link that opened it, else with what was written last, else with an example. */
import { systemClock } from "../../../base/clock.ts";
import type { WorkerLike } from "../channel.ts";
import { GALLERY } from "../gallery.ts";
import { unpackState } from "../share.ts";
import { createSettings } from "./settings/settings.ts";
import { startWorker } from "./wiring/start-worker.ts";
import { createWorkbench } from "./workbench.ts";

const settings = createSettings(() => localStorage);
const linked = location.hash.length > 1 ? await unpackState(location.hash) : undefined;
const workbench = createWorkbench({
  clock: systemClock,
  settings,
  startWorker: () => startWorker() as WorkerLike,
  examples: GALLERY,
  first: linked?.ok ? linked.state : (settings.get().draft ?? GALLERY[0]!.state),
});
document.body.append(...workbench.elements);
if (linked?.ok === false) workbench.tell(linked.message);

addEventListener("hashchange", () => {
  if (location.hash.length > 1)
    void unpackState(location.hash).then((unpacked) => (unpacked.ok ? workbench.open(unpacked.state) : workbench.tell(unpacked.message)));
});
