/**
 * Default maximum number of fields and items in the body of one request. Each blocks the server for some microseconds, longer than
 * in an API server that is written in Go.
 */
export const MANAGEMENT_BODY_VALUES_MAX = 10_000;
/** Longest password that is accepted, in characters. */
export const PASSWORD_LENGTH_MAX = 1_024;
/** Most sign-in keys of one user; if there are more, the oldest keys end. */
export const LOGINS_PER_USER_MAX = 500;
/** Most objects of one kind that each user or team may store, by default. */
export const OBJECTS_PER_OWNER_MAX = 500;
/** Most bytes of all objects that each user or team may store, by default. */
export const BYTES_PER_OWNER_MAX = 64 * 1024 * 1024;
/** Memory for all objects in one process, as the manifests set it, in MiB. */
export const STORED_MIB = 96;
/** Shortest and longest time between two rounds of copying from a vault, in milliseconds. */
export const SYNC_INTERVAL_MIN_MS = 1_000;
export const SYNC_INTERVAL_MAX_MS = 86_400_000;
