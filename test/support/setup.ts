/** Runs before every test file. */
import * as fc from "fast-check";

// A failing property is reported with what was shrunk so far; without a limit, the search for a smaller example can take for ever.
fc.configureGlobal({ interruptAfterTimeLimit: 15_000 });
