/** Id of the element of the page that holds the worker's script, as text. */
export const WORKER_ELEMENT = "worker";
