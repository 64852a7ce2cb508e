/**
 * Shares one action among many callers: each receives the result of a run that began after its call. Calls that arrive during a run share
 * the next one.
 *
 * @example
 * const read = shareCalls(() => readPresentRevision());
 * await Promise.all([read(), read(), read()]); // two runs
 */
export function shareCalls<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= running.then(() => {
      const result = run();
      next = undefined;
      running = result.catch(() => {});
      return result;
    });
    return next;
  };
}
