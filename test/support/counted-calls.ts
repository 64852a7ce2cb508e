import { Session, type Profiler } from "node:inspector";
import { afterAll, beforeAll } from "vitest";

/** Calls of the function with this name. */
export type CountedCalls = (name: string) => number;

/**
 * Lets V8 count the calls of functions below a folder of the source, during the tests of a file. Returns a function that returns those since
 * its last call. They depend on no clock and no machine.
 */
export function useCountedCalls(folder: string): () => CountedCalls {
  const session = new Session();
  const post = (method: string, parameters: object = {}): unknown => {
    let result: unknown;
    session.post(method, parameters, (error, answer) => {
      if (error !== null) throw new Error(`${method}: ${error.message}`);
      result = answer;
    });
    return result;
  };
  beforeAll(() => {
    session.connect();
    post("Profiler.enable");
    post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  });
  afterAll(() => session.disconnect());
  return () => {
    const { result } = post("Profiler.takePreciseCoverage") as Profiler.TakePreciseCoverageReturnType;
    const functions = result.filter(({ url }) => url.includes(`/src/${folder}/`)).flatMap((file) => file.functions);
    return (name) => functions.filter(({ functionName }) => functionName === name).reduce((sum, { ranges }) => sum + ranges[0]!.count, 0);
  };
}
