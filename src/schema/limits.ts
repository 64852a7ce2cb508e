/** Longest text that is parsed, in UTF-16 units: 3 Mi, twice what an API server stores. */
export const TEXT_MAX = 3 * 1024 * 1024;

/** Deepest nesting of lists and maps, aliases followed. */
export const DOCUMENT_DEPTH_MAX = 100;

/** Aliases (`*name`) in one document. */
export const ALIASES_MAX = 1_000;

/** Values that aliases add to a document when each of them is written out: ten lines can ask for a billion. */
export const ALIASED_VALUES_MAX = 100_000;

/** Members that `<<` takes over, in one document. */
export const MERGED_KEYS_MAX = 10_000;

/** Values in an object that is handed over in place of a text, counted as often as they are met. */
export const OBJECT_VALUES_MAX = 1_000_000;
