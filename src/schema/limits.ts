/** Maximum length of a text, in UTF-16 units: 3 Mi, twice what an API server stores. */
export const TEXT_MAX = 3 * 1024 * 1024;

/** Maximum nesting of lists and maps, including those that aliases refer to. */
export const DOCUMENT_DEPTH_MAX = 100;

/** Maximum number of aliases (`*name`) in one document. */
export const ALIASES_MAX = 1_000;

/** Maximum number of values that aliases add to a document if all of them are expanded: ten lines can expand to a billion values. */
export const ALIASED_VALUES_MAX = 100_000;

/** Maximum number of keys that `<<` adds in one document. */
export const MERGED_KEYS_MAX = 10_000;

/** Maximum number of values in an object that is passed instead of a text. A value counts each time it occurs. */
export const OBJECT_VALUES_MAX = 1_000_000;
