/** Exit code of a command that ran with a negative result: no match, an expression that fails, a cluster that refuses. */
export const EXIT_FAILED = 1;
/** Exit code for an invalid command line or configuration. */
export const EXIT_USAGE = 2;
/** Exit code for an error in the program itself. */
export const EXIT_INTERNAL = 3;
