/** Exit code of what did not work out: no match, an expression that fails, a cluster that refuses. */
export const EXIT_FAILED = 1;
/** Exit code of a command line that is wrong, and of a configuration that is. */
export const EXIT_USAGE = 2;
/** Exit code of a fault of the program. */
export const EXIT_INTERNAL = 3;
