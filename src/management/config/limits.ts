/**
 * Fields and items in the body of one request, by default. Each costs the server some microseconds that nobody else gets, more than
 * they cost an API server that is written in Go.
 */
export const MANAGEMENT_BODY_VALUES_MAX = 10_000;
/** Longest password that is taken, in characters. */
export const PASSWORD_LENGTH_MAX = 1_024;
/** Keys of sign-ins that one user has; the oldest end when there are more. */
export const LOGINS_PER_USER_MAX = 500;
/** Objects of one kind that may be stored for one user or team, by default. */
export const OBJECTS_PER_OWNER_MAX = 500;
/** Bytes of all objects that may be stored for one user or team, by default. */
export const BYTES_PER_OWNER_MAX = 64 * 1024 * 1024;
/** Memory for all objects together in a process of the manifests, in MiB. */
export const STORED_MIB = 96;
/** Shortest and longest time between two rounds with a vault, in milliseconds. */
export const SYNC_INTERVAL_MIN_MS = 1_000;
export const SYNC_INTERVAL_MAX_MS = 86_400_000;
