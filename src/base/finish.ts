/**
 * Runs all steps of a generator without a pause, and returns its result.
 *
 * @example
 * function* sum(numbers: number[]) {
 *   let total = 0;
 *   for (const each of numbers) {
 *     total += each;
 *     yield;
 *   }
 *   return total;
 * }
 * finish(sum([1, 2, 3])); // 6
 */
export function finish<Result>(work: Generator<undefined, Result>): Result {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}
