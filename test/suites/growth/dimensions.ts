import { BODIES } from "./dimensions/bodies.ts";
import { COLLECTIONS } from "./dimensions/collections.ts";
import { METADATA } from "./dimensions/metadata.ts";
import { PATCHES } from "./dimensions/patches.ts";
import { REQUESTS } from "./dimensions/requests.ts";
import { REVIEWS } from "./dimensions/reviews.ts";
import { SAML_ANSWERS } from "./dimensions/saml.ts";
import { SPECS } from "./dimensions/spec.ts";
import { SYNCER } from "./dimensions/syncer.ts";
import type { Dimension } from "./dimension.ts";

/** Every dimension of what callers send. */
export const DIMENSIONS: readonly Dimension[] = [
  ...METADATA,
  ...BODIES,
  ...PATCHES,
  ...REQUESTS,
  ...SPECS,
  ...REVIEWS,
  ...SAML_ANSWERS,
  ...COLLECTIONS,
  ...SYNCER,
];
