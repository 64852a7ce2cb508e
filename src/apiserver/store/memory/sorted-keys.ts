/** A set of keys, sorted by code units. */
export interface SortedKeys {
  add(key: string): void;
  remove(key: string): void;
  /** Returns the keys from `start` on that begin with `prefix`. `start` must not be before the prefix. */
  range(start: string, prefix: string): string[];
}

/**
 * Creates an empty, sorted set of keys. Adding or removing a key shifts all later keys. Even with 100,000 keys, this is cheaper than a
 * tree.
 *
 * @example
 * const keys = createSortedKeys();
 * keys.add("/b/1");
 * keys.add("/a/1");
 * keys.range("/a/", "/a/"); // ["/a/1"]
 */
export function createSortedKeys(): SortedKeys {
  const keys: string[] = [];
  /** The position after the last added key, or that of the last removed key. The next key is often there. */
  let next = 0;
  const position = (key: string) => {
    if ((next === 0 || keys[next - 1]! < key) && (next === keys.length || key <= keys[next]!)) return next;
    let low = 0;
    let high = keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    add(key) {
      const at = position(key);
      if (keys[at] !== key) keys.splice(at, 0, key);
      next = at + 1;
    },
    remove(key) {
      next = position(key);
      if (keys[next] === key) keys.splice(next, 1);
    },
    range: (start, prefix) => keys.slice(position(start), position(`${prefix}\uffff`)),
  };
}
