/** Starts the page: with the state of the link that opened it, otherwise with the last texts, otherwise with an example. */
import { systemClock } from "../../../base/clock.ts";
import type { WorkerLike } from "../channel.ts";
import { GALLERY } from "../gallery.ts";
import { unpackState } from "../share.ts";
import { WORKER_ELEMENT } from "../worker-element.ts";
import { createSettings } from "./settings/settings.ts";
import { createWorkbench } from "./workbench.ts";

/** Address of the worker's script. The page contains the script, so that it works as a file and in every folder of a server. */
let workerAddress: string | undefined;

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
if (linked?.ok === false) workbench.showMessage(linked.message);

addEventListener("hashchange", () => {
  if (location.hash.length > 1)
    void unpackState(location.hash).then((unpacked) =>
      unpacked.ok ? workbench.open(unpacked.state) : workbench.showMessage(unpacked.message),
    );
});

function startWorker(): Worker {
  const script = document.getElementById(WORKER_ELEMENT)?.textContent;
  if (!script) throw new Error("The page has no worker: build it with npm run build:playground");
  workerAddress ??= URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return new Worker(workerAddress);
}
