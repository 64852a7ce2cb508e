/**
 * Meaning of each metric, for the lines `# HELP` of a scrape. `test/docs/metrics.test.ts` holds it against the reference.
 *
 * @module
 */

/** Metric → its meaning, in one line. */
export const METRIC_HELP: Readonly<Record<string, string>> = {
  endpoint_sync_writes_total: "Creates, updates and deletes by the syncer; at rest it does not grow",
  endpoint_sync_lag_seconds: "From the arrival of a tenant's change to the answer to the host write that it caused",
  endpoint_sync_plans_total: "Looks at an object, by what they came to: copied, absent, waiting, left, refused, stale",
  endpoint_sync_notes_total: "Why objects are left, waiting or not as they were, by code",
  endpoint_sync_refused_addresses_total: "Left out by the address policy, counted once each time an object is looked at",
  endpoint_sync_fuel_total: "What expressions used",
  endpoint_sync_patch_outcomes_total: "What became of patches, once per patch and plan; see outcomes",
  endpoint_sync_contradictions_total:
    "Turns that met a cache which said otherwise than its cluster for a third of a second; the lists are read again then, at most once a minute",
  endpoint_sync_braked_objects: "Objects whose writes are slowed, because nothing asks for them",
  endpoint_sync_braked_writes_total: "Writes that waited for that",
  endpoint_sync_events_dropped_total: "Events that were not written, because their namespace had its share",
  endpoint_sync_long_pieces_total: "Pieces of work of more than 50 ms, while which nothing else has its turn; the log names the objects",
  endpoint_sync_delete_brake_engaged: "1 while the delete brake holds deletes",
  endpoint_sync_invisible_services:
    "Services of which readers on the host do not see all backends; see BACKENDS_INVISIBLE. Looked at 30 s after something was copied",
  endpoint_sync_cluster_is_another: "1 while another cluster answers in place of the right one",
  endpoint_sync_config_reload_failures_total: "Configurations that could not be taken over; the old one stays",
  endpoint_sync_missing_permissions: "Needed and missing; /readyz names them",
  informer_objects: "In the local copy",
  informer_current: "1 while the cluster can be followed",
  informer_lists_total: "Full lists, by reason: start, periodic, expired (a watch fell too far behind), failures",
  informer_failures_total: "Failed lists and watches",
  workqueue_depth: "That wait; priority is fresh or background",
  workqueue_adds_total: "Added",
  workqueue_retries_total: "Added again after a failure",
  workqueue_queue_duration_seconds: "How long keys waited",
  workqueue_work_duration_seconds: "How long keys were worked on",
  workqueue_unfinished_work_seconds: "Work that is under way, summed",
  workqueue_longest_running_processor_seconds: "The longest work under way",
  controller_runtime_reconcile_total: "By result: success, requeue_after, error; requeue stays 0",
  controller_runtime_reconcile_errors_total: "That failed",
  controller_runtime_terminal_reconcile_errors_total: "That failed in a way that only a change can mend",
  controller_runtime_reconcile_timeouts_total: "That were slow",
  controller_runtime_reconcile_panics_total: "That failed by a bug",
  controller_runtime_reconcile_time_seconds: "Duration of a reconcile",
  controller_runtime_active_workers: "At work now",
  controller_runtime_max_concurrent_reconciles: "At most, the setting workers",
  leader_election_master_status: "1 in the process that leads",
  rest_client_requests_total: "To API servers; code is <error> without an answer",
  rest_client_request_duration_seconds: "From a request to its complete answer; of a watch, to its beginning",
  apiserver_request_total: "Answered, by HTTP status; watches once they are over. Code 499: the client left before it was answered",
  apiserver_request_duration_seconds: "From the headers of a request to its answer; watches are not in it",
  apiserver_current_inflight_requests:
    "Under way, readOnly or mutating; the limits are --max-requests-inflight and --max-mutating-requests-inflight",
  apiserver_longrunning_requests: "That are open",
  apiserver_rejected_requests_total:
    "Refused because there is too much: reads, writes, watches, bytes of bodies, connections; quota: of objects of one owner",
  apiserver_resource_objects: "That are stored",
  apiserver_storage_request_duration_seconds:
    "Writes to the store (create, update, delete), and revision, with which requests begin where servers share an etcd; all else is answered from memory",
  apiserver_storage_request_errors_total: "Of these that failed, conflicts not counted",
  apiserver_storage_size_bytes: "Of the store's files, with --data; etcd tells its size itself, as etcd_mvcc_db_total_size_in_bytes",
  apiserver_audit_event_total: "For the audit log",
  apiserver_audit_error_total:
    "Of the audit log that are lost; plugin is log, or database for those that the database never got and the file has",
  management_audit_pending_lines: "That wait for the audit database",
  management_sign_ins_total:
    "Success; refused (wrong password, not admitted); limited (too many attempts); failed (the provider or the server); invalid (no step of a sign-in)",
  management_login_refreshes_total:
    "At a login again: current (the person may still sign in), ended, failed (the provider could not be asked), unasked (the provider cannot be asked without the person)",
  management_access_keys:
    "That are stored, by type (unknown for types without a meaning) and state: working, or why they are not accepted: expired, disabled, deleted, user (deleted), password (changed since), connector (removed, or leads elsewhere), member (left the team), holder (who gave the value left the team, or is disabled or deleted), maker (the key that made it is not accepted)",
  management_access_key_refusals_total: "Answered 401: missing (no key), unknown, or a state of management_access_keys",
  management_administrator_key_end_timestamp_seconds: "Since 1970, when the first administrator's key ends; +Inf when it does not",
  management_etcd_reloads_total:
    "Of everything in etcd: a backup was restored, or etcd was emptied (counted when that is noticed); etcd has compacted what the server knew, so that nothing tells whether one was; an event was missed, or something was written past the servers",
  management_config_reload_failures_total: "Configurations that could not be taken over; the old one stays",
  process_cpu_seconds_total: "Of processors that were used",
  process_resident_memory_bytes: "Of memory",
  endpoint_sync_build_info: "Always 1; the labels say which version of this program and of Node runs",
  process_open_fds: "Files and connections that are open; on Linux",
  process_start_time_seconds: "Since 1970, when the process started",
  nodejs_heap_size_used_bytes: "Of JavaScript objects",
  nodejs_eventloop_lag_p50_seconds: "By which half of what was due came late, since the read before",
  nodejs_eventloop_lag_p99_seconds: "The same of 99 in 100",
  nodejs_eventloop_lag_max_seconds: "The same at worst: how long one piece of work held up everything else",
};
