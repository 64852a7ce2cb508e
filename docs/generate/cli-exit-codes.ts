/**
 * What exit codes mean, in general and where a command has more to say. `test/docs/cli.test.ts` runs the command lines.
 *
 * @module
 */
import { EXIT_FAILED, EXIT_INTERNAL, EXIT_USAGE } from "../../src/cli/process/exit-codes.ts";

/** An exit code and what it says. Prose may have code in backticks. */
export interface ExitMeaning {
  readonly code: number;
  readonly meaning: string;
}

/** Codes that mean the same wherever they are. */
export const EXIT_CODES: readonly ExitMeaning[] = [
  { code: 0, meaning: "success" },
  {
    code: EXIT_FAILED,
    meaning: "the command ran and failed: an expression failed, a path matched nothing, or a cluster refused a request",
  },
  { code: EXIT_USAGE, meaning: "the command line, a path or a configuration is invalid; nothing was started" },
  { code: EXIT_INTERNAL, meaning: "an internal error" },
  { code: 130, meaning: "the process was forced to exit before it could stop cleanly: by a second SIGINT, or 25 s after the first one" },
  { code: 143, meaning: "the process was forced to exit before it could stop cleanly: by a second SIGTERM, or 25 s after the first one" },
];

/** Full name of a command → what its codes mean where the general meaning leaves something open. */
export const COMMAND_EXIT_CODES: Readonly<Record<string, readonly ExitMeaning[]>> = {
  run: [
    { code: 0, meaning: "stopped by SIGTERM or SIGINT" },
    {
      code: EXIT_FAILED,
      meaning: "a cluster refused a required request, or the host has copies of another syncer and `--adopt` does not name its prefix",
    },
  ],
  plan: [
    { code: 0, meaning: "there is nothing to do" },
    { code: EXIT_FAILED, meaning: "there is something to do" },
    {
      code: EXIT_USAGE,
      meaning: "a host namespace is missing, the host would refuse an object, or the command failed",
    },
  ],
  why: [
    {
      code: EXIT_FAILED,
      meaning: "neither side has such an object, a write is still pending after `--wait`, or a cluster refused a request",
    },
  ],
  audit: [
    { code: 0, meaning: "every copy has its expected state" },
    { code: EXIT_FAILED, meaning: "there are findings" },
    { code: EXIT_USAGE, meaning: "the command failed, for any reason" },
  ],
  cleanup: [{ code: EXIT_USAGE, meaning: "nothing was removed, because the removal was not confirmed" }],
  render: [
    { code: 0, meaning: "success, even if a patch failed or an object is not synced; messages on standard error report these cases" },
    { code: EXIT_FAILED, meaning: "an API server would refuse a result" },
  ],
  eval: [{ code: EXIT_FAILED, meaning: "the expression failed" }],
  match: [{ code: EXIT_FAILED, meaning: "the path matches nothing" }],
  test: [
    { code: EXIT_FAILED, meaning: "a test failed, or the coverage is below `--threshold`" },
    { code: EXIT_USAGE, meaning: "a test file is invalid, or there is no test" },
  ],
  validate: [
    { code: 0, meaning: "valid, possibly with warnings" },
    {
      code: EXIT_USAGE,
      meaning: "not valid, a law does not hold, an API server would refuse a result, or `--strict` is set and there is a warning",
    },
  ],
  "platform-data check": [{ code: EXIT_FAILED, meaning: "a value cannot be decrypted, or the check found another problem" }],
  login: [{ code: EXIT_FAILED, meaning: "not signed in, or the platform cannot be reached" }],
  "login-token": [{ code: EXIT_FAILED, meaning: "no stored key is valid and you did not sign in, or the platform cannot be reached" }],
  "secret get": [{ code: EXIT_FAILED, meaning: "there is no such SharedSecret or key, or you may not read it" }],
};
