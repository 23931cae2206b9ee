/**
 * Error codes.
 * @module
 */

/** Codes that a client may receive from the proxy, and a program as `code` of a `MeshError`. */
export type RequestErrorCode =
  | "access_denied"
  | "all_attempts_failed"
  | "budget_exceeded"
  | "cache_miss"
  | "client_not_found"
  | "content_blocked"
  | "host_not_allowed"
  | "insufficient_quota"
  | "internal_error"
  | "invalid_api_key"
  | "context_length_exceeded"
  | "invalid_json"
  | "invalid_provider_key"
  | "invalid_url"
  | "invalid_value"
  | "issuer_unavailable"
  | "item_not_found"
  | "method_not_allowed"
  | "missing_required_parameter"
  | "missing_provider_key"
  | "model_not_found"
  | "no_active_model"
  | "no_cache"
  | "no_storage"
  | "not_acceptable"
  | "not_an_administrator"
  | "origin_not_allowed"
  | "overloaded"
  | "previous_response_not_found"
  | "rate_limit_exceeded"
  | "request_too_large"
  | "response_in_progress"
  | "response_not_found"
  | "shutting_down"
  | "storage_unavailable"
  | "stream_interrupted"
  | "timeout"
  | "unknown_url"
  | "unsupported_by_pool"
  | "unsupported_media_type"
  | "upgrade_unavailable"
  | "upstream_auth_error";

/** Codes of errors at startup, of library calls, and of connectors. */
export type ProgramErrorCode =
  | "cannot_listen"
  | "config_not_saved"
  | "invalid_certificate"
  | "invalid_configuration"
  | "invalid_key"
  | "invalid_state"
  | "network_error"
  | "no_providers"
  | "not_a_mesh"
  | "not_initialized"
  | "not_reloadable"
  | "port_in_use"
  | "port_not_permitted"
  | "probe_failed"
  | "secret_not_found"
  | "stream_consumed"
  | "unsupported_runtime"
  | "upstream_error";

/** Every error code of this package. */
export type ErrorCode = RequestErrorCode | ProgramErrorCode;

/** An error code of this package, or one that a provider returned for an invalid request. */
// deno-lint-ignore ban-types -- editors keep completing the known codes although any string is accepted
export type AnyErrorCode = ErrorCode | (string & {});
