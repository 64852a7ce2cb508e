/**
 * Freezes JSON data at all levels and returns it. A value that is already frozen is assumed to be frozen at all levels, so parts that are
 * shared with an older version of an object cost nothing.
 *
 * @example
 * Object.isFrozen(deepFreeze({ a: { b: 1 } }).a); // true
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) for (const item of value) deepFreeze(item);
  else for (const name in value) deepFreeze(value[name]);
  return Object.freeze(value);
}

/**
 * A copy of JSON data; "__proto__" is treated like any other name.
 *
 * @example
 * cloneJson({ a: [1] }); // { a: [1] }
 */
export function cloneJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => cloneJson(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cloneJson(member)]));
}

/**
 * Caches a value derived from an object, for all callers. The object must be frozen, and the value must depend on the object only.
 *
 * @example
 * const metadataOnce = oncePerObject(metadataOf);
 * metadataOnce(object) === metadataOnce(object); // true
 */
export function oncePerObject<From extends object, To>(make: (object: From) => To): (object: From) => To {
  const made = new WeakMap<From, To>();
  return (object) => {
    let known = made.get(object);
    if (known === undefined) made.set(object, (known = make(object)));
    return known;
  };
}

/** Maximum nesting of data. It keeps recursive functions from overflowing the stack. */
export const JSON_DEPTH_MAX = 200;
