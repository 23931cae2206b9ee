/**
 * The cause and the remedy of each error code. A missing entry does not compile.
 * @module
 */
import type { ProgramErrorCode, RequestErrorCode } from "../../src/contracts/error_codes.ts";

/** Status (for codes of the proxy), cause, remedy. */
type Line = readonly [status: string, cause: string, remedy: string];

/** Codes in responses of the proxy. */
export const requestErrors: Readonly<Record<RequestErrorCode, Line>> = {
  invalid_json: ["400", "The body is not JSON.", "Send `content-type: application/json` and a JSON object."],
  invalid_url: [
    "400",
    "The URL has a backslash, `#`, a control character or dot segments in it, possibly encoded.",
    "Send the path as documented, without such characters.",
  ],
  invalid_value: [
    "400",
    "A member has an invalid type or value; `param` names it.",
    "The message states the allowed values.",
  ],
  missing_required_parameter: ["400", "A required member is missing; `param` names it.", "Add it."],
  missing_provider_key: [
    "400",
    "The providers that could serve the request take keys of callers (`credentials: header`), and it contains none for them.",
    "Send `x-provider-key: <key>`, or `x-provider-key: <provider id>=<key>, …` for several providers.",
  ],
  invalid_provider_key: [
    "401",
    "Every provider refused the key that the request contains for it.",
    "Check the key in `x-provider-key`.",
  ],
  previous_response_not_found: [
    "404, 400",
    "No response of this client has the id in `previous_response_id`: neither the connection, if it is a WebSocket, nor the storage. (400 without a storage of responses.)",
    "Send the conversation as `input`, or set `proxy.responses.state`.",
  ],
  response_not_found: [
    "404",
    "No stored response of this client has that id: it was not stored, has expired, or was deleted.",
    "`proxy.responses` states whether and how long responses are kept.",
  ],
  item_not_found: [
    "404",
    "An `item_reference` names an item that is in none of the stored responses of this client.",
    "Send the item itself.",
  ],
  response_in_progress: [
    "409",
    "A request was sent over a WebSocket before the response to the previous one was complete.",
    "Wait for `response.completed`, or open another connection.",
  ],
  upgrade_unavailable: [
    "426",
    "WebSockets cannot be served here: on Node, the package `ws` is missing.",
    "Install `ws`, or send the request by POST.",
  ],
  unsupported_by_pool: [
    "400",
    "No model of the pool supports the request.",
    "Use another pool, or remove the feature: `explain` shows what each model lacks.",
  ],
  content_blocked: [
    "400",
    "A guard has refused the request, or its response; the message names the guard. In a stream that has begun it is an error event.",
    "Remove what the guard does not allow. `docs/guards.md` lists what guards check.",
  ],
  context_length_exceeded: [
    "400",
    "The prompt is too long for every model of the pool, or for the one that was asked.",
    "Shorten the conversation, or add a model with a larger context window.",
  ],
  no_cache: ["400", "The proxy has no cache.", "Add a section `cache` to the configuration."],
  no_storage: [
    "400",
    "Clients created at runtime, usage per day and the list of processes require a storage.",
    "Add a section `storage` to the configuration; for the list, one that several processes share.",
  ],
  invalid_api_key: ["401", "The token is missing or invalid.", "Send `Authorization: Bearer <token>`."],
  access_denied: [
    "403",
    "The token is valid, but names no known client or team, lacks a value that `proxy.auth.jwt` requires, or is that of a viewer.",
    "The proxy's log states the reason. The operator configures the client, the team or the conditions.",
  ],
  issuer_unavailable: [
    "503",
    "The keys of the token's issuer cannot be fetched, and none are known.",
    "Retry after `Retry-After`. The proxy's log states why the issuer cannot be reached.",
  ],
  host_not_allowed: [
    "403",
    "Without a token, only loopback host names are served.",
    "Use `127.0.0.1`, set a token, or add the name to `proxy.allowed_hosts`.",
  ],
  origin_not_allowed: [
    "403",
    "The request comes from a page of another origin.",
    "Add its origin to `proxy.cors.origins`, or start with `--cors-origin`.",
  ],
  not_an_administrator: [
    "403",
    "The path is restricted to administrators.",
    "Use a token of `proxy.auth.admin_tokens`.",
  ],
  model_not_found: ["404", "No pool, alias, capability or model has this name.", "`GET /v1/models` lists them."],
  client_not_found: ["404", "No client created at runtime has this id.", "`GET /mesh/clients` lists them."],
  unknown_url: ["404", "The path is not served.", "Check the path; OpenAI's paths begin with `/v1`."],
  method_not_allowed: [
    "405",
    "The path does not support the method.",
    "The header `Allow` lists the supported methods.",
  ],
  not_acceptable: ["406", "The dashboard is only available as HTML.", "Accept `text/html`."],
  request_too_large: ["413", "The body exceeds the size limit.", "Raise `proxy.body_limit` or `proxy.upload_limit`."],
  unsupported_media_type: [
    "415",
    "The content type is not supported.",
    "Send JSON, or `multipart/form-data` for uploads.",
  ],
  rate_limit_exceeded: [
    "429",
    "Every candidate, or the client, has reached its rate limit.",
    "Wait for `Retry-After`.",
  ],
  insufficient_quota: [
    "429",
    "Every candidate's quota is exhausted.",
    "Increase the quota, or add a provider to the pool.",
  ],
  budget_exceeded: ["429", "A budget is exhausted.", "Raise it, or wait for the next window (`Retry-After`)."],
  internal_error: ["500", "A bug in ModelMesh or in a connector.", "Report it with the request id in the message."],
  all_attempts_failed: ["502", "All attempts failed.", "The message names the models; `/ui` shows the causes."],
  upstream_auth_error: [
    "502",
    "The providers reject the API key.",
    "Check the key of the provider that the message names.",
  ],
  stream_interrupted: [
    "in the stream",
    "The provider failed after the first content.",
    "Retry the request, or set `commit: complete`.",
  ],
  no_active_model: ["503", "Every model is in standby.", "Wait for `Retry-After`, or add models to the pool."],
  overloaded: [
    "503",
    "The proxy has reached `proxy.max_concurrent`, its machine lacks file descriptors or memory, or every provider that was asked is overloaded.",
    "Retry after `Retry-After`, or a few seconds; raise the limit.",
  ],
  shutting_down: ["503", "The proxy is shutting down.", "Retry the request at another process."],
  storage_unavailable: ["503", "The storage of clients or of the cache is unavailable.", "See the error in the log."],
  cache_miss: [
    "504",
    "The request may only be served from the cache (`x-mesh-cache: only`), which has no response to it.",
    "Send it without `only`.",
  ],
  timeout: ["504", "The deadline passed before the response began.", "Raise `timeout` or `proxy.request_timeout`."],
};

/** Codes of errors in programs. */
export const programErrors: Readonly<Record<ProgramErrorCode, Line>> = {
  cannot_listen: ["", "The host address does not exist on this machine.", "Check `host`."],
  config_not_saved: ["", "A configuration could not be written.", "See `error.cause`."],
  invalid_certificate: ["", "A certificate is not a valid PEM file.", "Check `proxy.tls.cert`."],
  invalid_configuration: ["", "The configuration is invalid.", "`problems` lists each path with the allowed values."],
  invalid_key: [
    "",
    "A private key is not a valid PEM file, or does not match the certificate.",
    "Check `proxy.tls.key`.",
  ],
  invalid_state: [
    "",
    "A snapshot is damaged, or was not created by ModelMesh.",
    "Import what `exportState()` returned.",
  ],
  network_error: ["", "A connection failed or broke.", "The message names it."],
  no_providers: ["", "No provider has an API key.", "Set one of the variables that the message names."],
  not_a_mesh: ["", "The argument is not a `ModelMesh`.", "Pass a `ModelMesh`."],
  not_initialized: ["", "The mesh has no configuration yet.", "Await `initialize()` or `ready()`."],
  not_reloadable: ["", "The configuration did not come from a file.", "Start with `config: <path>`."],
  port_in_use: ["", "Another program uses the port.", "Choose another port: `--port`."],
  port_not_permitted: ["", "The user is not permitted to use the port.", "Choose a port above 1023."],
  probe_failed: ["", "A provider failed its probe.", "See its line in the output of `check --probe`."],
  secret_not_found: ["", "A secret does not exist in its store.", "Set the secrets listed in `names`."],
  stream_consumed: ["", "A stream was read a second time.", "Buffer the chunks when reading them."],
  unsupported_runtime: ["", "Node is older than 20.16.", "Upgrade Node."],
  upstream_error: [
    "",
    "A connector reported a failed call.",
    "The engine handles it; programs see it as `error.cause`.",
  ],
};
