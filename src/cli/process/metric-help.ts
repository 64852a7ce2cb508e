/**
 * Meaning of each metric, for the lines `# HELP` of a scrape. `test/docs/metrics.test.ts` compares them with the reference.
 *
 * @module
 */

/** Metric → its meaning, in one line. */
export const METRIC_HELP: Readonly<Record<string, string>> = {
  endpoint_sync_writes_total: "Creates, updates and deletes by the syncer; constant while nothing changes",
  endpoint_sync_lag_seconds: "Time from the arrival of a change in the tenant to the response to the resulting write on the host",
  endpoint_sync_plans_total:
    "Reconciles of an object, by outcome: copied (a copy exists), absent (no copy should exist), waiting (something else must happen first), left (the objects in both clusters are left alone), refused (the object cannot be copied), stale (the cache is older than the copy)",
  endpoint_sync_notes_total: "Reasons why objects are left alone, waiting, or changed during the sync, by code",
  endpoint_sync_refused_addresses_total:
    "Addresses left out, and host edits undone, because of the address policy, counted at each reconcile of an object",
  endpoint_sync_fuel_total: "Steps that expressions used",
  endpoint_sync_patch_outcomes_total: "Outcomes of patches, counted once per patch and reconcile",
  endpoint_sync_contradictions_total:
    "Reconciles in which a cache has contradicted its cluster for at least a third of a second; the syncer then lists the objects again, at most once a minute",
  endpoint_sync_braked_objects: "Objects whose writes are delayed because they are repeated without a change to the source object",
  endpoint_sync_braked_writes_total: "Delayed writes of objects that are written too often",
  endpoint_sync_events_dropped_total: "Events that were not written because their namespace exceeded its rate limit",
  endpoint_sync_long_pieces_total: "Tasks that took more than 50 ms and blocked all others; the log names the objects",
  endpoint_sync_delete_brake_engaged: "1 while the delete brake holds deletes",
  endpoint_sync_invisible_services:
    "Services whose readers on the host do not see all backends; see BACKENDS_INVISIBLE. Checked up to 30 s after a change, and every 5 minutes if slices are not synced",
  endpoint_sync_cluster_is_another: "1 while another cluster responds in place of the right one",
  endpoint_sync_config_reload_failures_total: "Configurations that could not be loaded; the previous one stays in effect",
  endpoint_sync_missing_permissions: "Required permissions that are missing; /readyz names them",
  informer_objects: "Objects in the cache",
  informer_current: "1 while the cache follows its cluster",
  informer_lists_total:
    "Full lists, as a stream or in pages, by reason: start, periodic, expired (a watch fell too far behind), failures, contradicted (by the cluster)",
  informer_failures_total: "Failed lists and watches",
  workqueue_depth: "Keys waiting in the queue; priority is fresh or background",
  workqueue_adds_total: "Keys added to the queue",
  workqueue_retries_total: "Keys added again after a failure",
  workqueue_queue_duration_seconds: "Time that keys waited in the queue",
  workqueue_work_duration_seconds: "Time spent processing keys",
  workqueue_unfinished_work_seconds: "Total duration of the work in progress",
  workqueue_longest_running_processor_seconds: "Duration of the longest work in progress",
  controller_runtime_reconcile_total: "Reconciles, by result: success, requeue_after, error, requeue (had to wait for another reconcile)",
  controller_runtime_reconcile_errors_total: "Reconciles that failed",
  controller_runtime_terminal_reconcile_errors_total: "Reconciles that failed and are not retried until something changes",
  controller_runtime_reconcile_timeouts_total: "Reconciles that were interrupted because they took too long",
  controller_runtime_reconcile_panics_total: "Reconciles that failed because of a bug",
  controller_runtime_reconcile_time_seconds: "Duration of a reconcile",
  controller_runtime_active_workers: "Busy workers",
  controller_runtime_max_concurrent_reconciles: "Configured number of workers",
  leader_election_master_status: "1 in the leader process",
  rest_client_requests_total: "Requests to API servers; code is <error> if there was no response",
  rest_client_request_duration_seconds: "Time from a request to its complete response; for a watch, to the start of the response",
  apiserver_request_total:
    "Completed requests, by HTTP status; watches are counted when they end. Code 499: the client disconnected before the response",
  apiserver_request_duration_seconds: "Time from the headers of a request to its response, excluding watches",
  apiserver_current_inflight_requests:
    "Requests in progress, readOnly or mutating; the limits are --max-requests-inflight and --max-mutating-requests-inflight",
  apiserver_longrunning_requests: "Open watches",
  apiserver_rejected_requests_total:
    "Requests refused because a limit was reached: reads, writes, watches, bytes (of bodies), connections, or quota (objects of one owner)",
  apiserver_resource_objects: "Stored objects",
  apiserver_storage_request_duration_seconds:
    "Duration of operations of the store: create, update, delete, and revision, which is the first step of a request if servers share an etcd. All other reads are served from memory",
  apiserver_storage_request_errors_total: "Failed operations of the store, excluding conflicts",
  apiserver_storage_size_bytes: "Size of the store's files, with --data; etcd reports its own size as etcd_mvcc_db_total_size_in_bytes",
  apiserver_audit_event_total: "Lines generated for the audit log, including lost ones",
  apiserver_audit_error_total:
    "Lost audit lines; plugin is log, or database for lines that were written to the file but not to the database",
  management_audit_pending_lines: "Lines waiting for the audit database",
  management_sign_ins_total:
    "Sign-ins, by outcome: success; refused (wrong password, not admitted); limited (too many attempts); failed (error of the provider or the server); invalid (not a step of a sign-in)",
  management_login_refreshes_total:
    "Checks of existing logins: current (the user may still sign in), ended, failed (the request to the provider failed), unasked (the provider cannot be queried without the user)",
  management_access_keys:
    "Stored keys, by type (unknown for types that the server does not define) and state: working, or the reason for their refusal: expired, disabled, deleted, user (deleted), password (changed since), connector (removed, or now names another provider), member (left the team), holder (the user who set the key's value left the team, or is disabled or deleted), maker (the key that created it is refused)",
  management_access_key_refusals_total:
    "Requests that were refused with 401: missing (no key), unknown, or a state of management_access_keys",
  management_administrator_key_end_timestamp_seconds:
    "Expiry time of the first administrator's key, in seconds since 1970; +Inf if the key does not expire",
  management_etcd_reloads_total:
    "Complete reloads from etcd: restored (a backup was restored, or etcd was emptied; counted when it is noticed), compacted (etcd no longer has the history that would show whether a backup was restored), missed (an event was missed, or a program other than the servers wrote data)",
  management_config_reload_failures_total: "Configurations that could not be loaded; the previous one stays in effect",
  process_cpu_seconds_total: "Processor time used",
  process_resident_memory_bytes: "Resident memory",
  endpoint_sync_build_info: "Always 1; the labels contain the versions of this program and of Node",
  process_open_fds: "Open files and connections; only on Linux",
  process_start_time_seconds: "Start time of the process, in seconds since 1970",
  nodejs_heap_size_used_bytes: "Memory used by JavaScript objects",
  nodejs_eventloop_lag_p50_seconds: "Median event loop lag since the last scrape",
  nodejs_eventloop_lag_p99_seconds: "99th percentile of the event loop lag since the last scrape",
  nodejs_eventloop_lag_max_seconds: "Longest event loop lag since the last scrape: the time for which a single task blocked all others",
};
