import { DOCUMENTED_EXAMPLES } from "./gallery/documented.ts";
import type { Example } from "./gallery/example.ts";
import { FIRST_STEPS } from "./gallery/first-steps.ts";
import { HOST_EDITS } from "./gallery/host-edits.ts";
import { MISTAKES } from "./gallery/mistakes.ts";
import { RECIPE_EXAMPLES } from "./gallery/recipes.ts";

export type { Example };

/** All examples, by group. The page opens with the first. Tests run every one of them, in Node and in a browser. */
export const GALLERY: readonly Example[] = [...FIRST_STEPS, ...HOST_EDITS, ...MISTAKES, ...RECIPE_EXAMPLES, ...DOCUMENTED_EXAMPLES];
