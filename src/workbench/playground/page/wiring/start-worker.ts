import { WORKER_ELEMENT } from "../../worker-element.ts";

let address: string | undefined;

/**
 * Starts the worker from the script that the page carries, so that nothing is fetched: from a file, and from any folder of any server.
 *
 * @throws Error when the page was not built.
 */
export function startWorker(): Worker {
  address ??= URL.createObjectURL(new Blob([scriptOf(WORKER_ELEMENT)], { type: "text/javascript" }));
  return new Worker(address);
}

function scriptOf(id: string): string {
  const text = document.getElementById(id)?.textContent;
  if (!text) throw new Error("The page has no worker: build it with npm run build:playground");
  return text;
}
