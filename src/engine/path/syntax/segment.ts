/** One part of a path. Its selection depends on the node that it is applied to. */
export type Segment =
  /** The own member of that name of an object; nothing in a list. */
  | { readonly kind: "key"; readonly key: string }
  /** The element of a list, from the end when negative; the own member `String(index)` of an object. */
  | { readonly kind: "index"; readonly index: number }
  /** Every element of a list, every own member of an object. */
  | { readonly kind: "wildcard" };

/** One part of a concrete path: the number of a list element, or the name of an object member. */
export type PathStep = string | number;

/** Maximum length of a path, in UTF-16 units. Kubernetes allows keys of 317. */
export const PATH_LENGTH_MAX = 4096;

/** Maximum number of segments in a path. The deepest built-in Kubernetes field has about 20. */
export const PATH_SEGMENTS_MAX = 64;
