import { BODIES } from "./dimensions/bodies.ts";
import { COLLECTIONS } from "./dimensions/collections.ts";
import { METADATA } from "./dimensions/metadata.ts";
import { PATCHES } from "./dimensions/patches.ts";
import { REQUESTS } from "./dimensions/requests.ts";
import { REVIEWS } from "./dimensions/reviews.ts";
import { SPECS } from "./dimensions/spec.ts";
import type { Dimension } from "./dimension.ts";

/** Every dimension of what callers send. */
export const DIMENSIONS: readonly Dimension[] = [...METADATA, ...BODIES, ...PATCHES, ...REQUESTS, ...SPECS, ...REVIEWS, ...COLLECTIONS];
