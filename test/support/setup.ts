/** Runs before every test file. */
import * as fc from "fast-check";
import { PATIENCE_MS } from "./patience.ts";
import { SEED } from "./seed.ts";

// A failing property is reported with what was shrunk so far; without a limit, the search for a smaller example can take forever. One that
// holds must not come near to it on a slow machine: it would end before it has seen what it is to see.
// The cases of a property are the same in each run, unless SEED asks for others (`npm run test:chance` does): what is red tomorrow was red today.
fc.configureGlobal({ interruptAfterTimeLimit: PATIENCE_MS, seed: SEED });
