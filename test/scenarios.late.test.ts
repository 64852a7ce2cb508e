/** The stories of `scenarios.test.ts` on two embedded clusters whose events arrive late. */
import { playStories } from "./support/play-stories.ts";

/** Virtual milliseconds; the round trips of several writes fit in. */
playStories(30);
