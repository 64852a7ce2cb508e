/** What tests choose by lot: the same in each run, unless SEED asks for something else. `npm run test:chance` and `.ci/long` do. */
export const SEED = Number(process.env["SEED"] ?? 7);
