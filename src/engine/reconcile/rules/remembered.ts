/**
 * Returns a version of `compute` that is called once for each argument and remembers the result. Arguments are distinguished by identity
 * and must not change (cached objects never do); a result is released with its argument.
 *
 * @example
 * const lengthOf = remembered((list: readonly string[]) => list.join().length);
 * lengthOf(["a", "b"]); // 3
 */
export function remembered<Argument extends object, Answer>(compute: (argument: Argument) => Answer): (argument: Argument) => Answer {
  const answers = new WeakMap<Argument, Answer>();
  return (argument) => {
    const known = answers.get(argument);
    // Results have no wrapper, because there are as many as objects in both clusters.
    if (known !== undefined) return known;
    const answer = compute(argument);
    // An object of the wrong shape may have a string in place of a list.
    if (Object(argument) === argument) answers.set(argument, answer);
    return answer;
  };
}
