/**
 * What each error code means, and what to do. A code without a line here does not compile.
 * @module
 */
import type { ProgramErrorCode, RequestErrorCode } from "../../src/contracts/error_codes.ts";

/** Status (for codes of the proxy), cause, remedy. */
type Line = readonly [status: string, cause: string, remedy: string];

/** What clients get. */
export const requestErrors: Readonly<Record<RequestErrorCode, Line>> = {
  invalid_json: ["400", "The body is not JSON.", "Send `content-type: application/json` and a JSON object."],
  invalid_value: ["400", "A member has a wrong type or value; `param` names it.", "The message says what is allowed."],
  missing_required_parameter: ["400", "A member is missing; `param` names it.", "Add it."],
  unsupported_by_pool: [
    "400",
    "No model of the pool can do what the request asks for.",
    "Name another pool, or ask for less: `explain` says what each model lacks.",
  ],
  no_storage: ["400", "Clients at runtime need a storage.", "Add a section `storage` to the configuration."],
  invalid_api_key: ["401", "The token is missing or not accepted.", "Send `Authorization: Bearer <token>`."],
  host_not_allowed: [
    "403",
    "Without a token, only loopback names are served.",
    "Use `127.0.0.1`, set a token, or add the name to `proxy.allowed_hosts`.",
  ],
  origin_not_allowed: ["403", "A page of another origin asks.", "Add its origin to `proxy.cors.origins`."],
  not_an_administrator: ["403", "The path is for administrators.", "Use a token of `proxy.auth.admin_tokens`."],
  model_not_found: ["404", "No pool, alias, capability or model has this name.", "`GET /v1/models` lists them."],
  client_not_found: ["404", "No client made at runtime has this id.", "`GET /mesh/clients` lists them."],
  unknown_url: ["404", "The path is not served.", "Check the path; OpenAI's begin with `/v1`."],
  method_not_allowed: ["405", "The path takes other methods.", "The header `Allow` names them."],
  not_acceptable: ["406", "The dashboard is HTML alone.", "Accept `text/html`."],
  request_too_large: ["413", "The body is over the limit.", "Raise `proxy.body_limit` or `proxy.upload_limit`."],
  unsupported_media_type: ["415", "The body has another type.", "Send JSON; uploads are `multipart/form-data`."],
  rate_limit_exceeded: ["429", "Every candidate, or the client, is at its rate limit.", "Wait for `Retry-After`."],
  insufficient_quota: ["429", "Every candidate's quota is exhausted.", "Top up, or add a provider to the pool."],
  budget_exceeded: ["429", "A budget is spent.", "Raise it, or wait for its next window (`Retry-After`)."],
  internal_error: ["500", "A defect of ModelMesh or of a connector.", "Report it with the request id of the message."],
  all_attempts_failed: ["502", "Every model that was tried failed.", "The message names them; `/ui` shows why."],
  upstream_auth_error: ["502", "Providers refuse our key.", "Check the key of the provider that the message names."],
  stream_interrupted: ["in the stream", "The provider broke off after the first content.", "Send the request again."],
  no_active_model: ["503", "Every model is in standby.", "Wait for `Retry-After`, or add models to the pool."],
  overloaded: ["503", "The proxy is at `proxy.max_concurrent`.", "Wait a second, or raise it."],
  shutting_down: ["503", "The proxy is about to stop.", "Send the request again: another process takes it."],
  storage_unavailable: ["503", "The storage of clients cannot be reached.", "See its error in the log."],
  timeout: ["504", "The deadline passed before an answer began.", "Raise `timeout` or `proxy.request_timeout`."],
};

/** What programs get. */
export const programErrors: Readonly<Record<ProgramErrorCode, Line>> = {
  cannot_listen: ["", "The address does not exist on this machine.", "Check `host`."],
  config_not_saved: ["", "A configuration could not be written.", "See the cause."],
  invalid_certificate: ["", "A certificate is no usable PEM.", "Check `proxy.tls.cert`."],
  invalid_configuration: ["", "The configuration does not hold.", "`problems` lists every path and what is allowed."],
  invalid_key: ["", "A private key is no usable PEM, or another certificate's.", "Check `proxy.tls.key`."],
  invalid_state: ["", "A snapshot is damaged, or none of ModelMesh.", "Import what `exportState()` returned."],
  network_error: ["", "No connection, or one that broke.", "The message says which."],
  no_providers: ["", "No provider has a key.", "Set one of the variables that the message names."],
  not_a_mesh: ["", "What was given is no `ModelMesh`.", "Pass the mesh itself."],
  not_initialized: ["", "The mesh has no configuration yet.", "Await `initialize()` or `ready()`."],
  not_reloadable: ["", "The configuration did not come from a file.", "Start with `config: <path>`."],
  port_in_use: ["", "Another program listens there.", "Choose another port: `--port`."],
  port_not_permitted: ["", "The system does not let this user listen there.", "Choose a port above 1023."],
  probe_failed: ["", "A provider did not pass its probe.", "See its line of `check --probe`."],
  secret_not_found: ["", "A secret does not exist in its store.", "`names` says which; set them."],
  stream_consumed: ["", "A stream is read a second time.", "Keep what was read."],
  unsupported_runtime: ["", "Node is older than 20.16.", "Use a newer one."],
  upstream_error: ["", "A connector's view of a failed call.", "The engine handles it; programs see it as a cause."],
};
