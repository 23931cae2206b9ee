/**
 * What of the behaviour suites cannot run in a page, and why.
 * @module
 */

const files = "reads and writes files";
const environment = "finds providers in the environment, which a page does not have";
const processes = "starts processes";
const server = "is about HTTP between a proxy and its clients; a page listens nowhere";
const sockets = "talks to the proxy by a socket";
const sdk = "asks a proxy by a vendor's own npm package, which wants a server";
const refused = "a page is not told that a connection was refused, so it tries once more";
const dropped = "a browser may drop what has arrived and was not read yet when the connection breaks";
const vendor = "asks a vendor whose connector pages do not have";
const listens = "asks a simulated vendor that listens by itself";
const broken = "a Response in a page says of its body only that it broke, by a TypeError";
const connections = "has more calls under way than a browser makes connections to one server";
const zlib = "compresses by node:zlib";
const tls = "a page is not told why a TLS connection failed";
const packaged = "needs an npm package, which the bundle of a test leaves out";
const redirected = "a page is not told where a redirect leads";

const b = "tests/behaviour";
const slow = "tests/slow/behaviour";

/** By file: why all of it, or by title why single tests, or all below a title. */
export const notInPages: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  [`${b}/at_once_test.ts`]: {
    "30 calls begun in one turn": connections,
    "limits of a pool, with 40 calls begun in one turn": connections,
    "the proxy": sockets,
  },
  [`${b}/base_model_test.ts`]: vendor,
  [`${b}/cache_shared_test.ts`]: {
    "a caller of a shared call > ends the call if it is the last one, complete": sockets,
    "a caller of a shared call > ends the call if it is the last one, streamed": sockets,
  },
  [`${b}/cache_streams_test.ts`]: {
    "a stream that is shared > ends when its last reader leaves, and is not kept": sockets,
    "guards over a shared call > block it for all, and nothing is kept": packaged,
  },
  [`${slow}/cloud_credentials_test.ts`]: vendor,
  [`${b}/jwt_test.ts`]: server,
  [`${b}/guards_test.ts`]: {
    "The configuration of guards > with a lookahead is refused": packaged,
    "The configuration of guards > with a lookbehind is refused": packaged,
    "The configuration of guards > with a backreference is refused": packaged,
    "The configuration of guards > with an invalid pattern is refused": packaged,
    "The configuration of guards > with a pattern of the empty text is refused": packaged,
    "The configuration of guards > with no pattern is refused": packaged,
  },
  [`${b}/guard_operations_test.ts`]: { "A client of the library > has patterns of its own": packaged },
  [`${b}/caller_keys_test.ts`]: server,
  [`${b}/queue_clients_test.ts`]: server,
  [`${b}/queue_http_test.ts`]: server,
  [`${b}/hedging_test.ts`]: {
    "hedging > closes the connection of the call that is cancelled": sockets,
    "the end of a hedged request > a client that leaves ends both calls": server,
    "the end of a hedged request > a client that leaves ends both calls of a stream": server,
  },
  [`${slow}/batches_test.ts`]: listens,
  [`${slow}/client_models_objects_test.ts`]: listens,
  [`${slow}/batch_spend_test.ts`]: listens,
  [`${slow}/chat_by_responses_test.ts`]: { "Azure": vendor },
  [`${slow}/spend_test.ts`]: {
    "cost: reasoning beside the completion costs 0.045896 USD": vendor,
    "cost: the cost that xAI states costs 0.0037756 USD": vendor,
    "cost: the cost that Perplexity states costs 0.006045 USD": vendor,
    "cost: the hours before the off-peak price (DeepSeek) costs 0.0024 USD": vendor,
    "cost: the off-peak price past midnight (DeepSeek) costs 0.000345 USD": vendor,
    "cost: hours past midnight of a day of the week costs 0.0024 USD": vendor,
    "cost: hours of another day of the week costs 0.0012 USD": vendor,
    "cost: Vertex AI in a region costs 0.0012375 USD": vendor,
    "cost: Vertex AI anywhere costs 0.001125 USD": vendor,
    "cost: the type of traffic and a search of Vertex AI costs 0.016025 USD": vendor,
  },
  [`${slow}/spend_property_test.ts`]: {
    "the rows of usage per day have the sum of the records (seed 4)": server,
    "the rows of usage per day have the sum of the records (seed 5)": server,
  },
  [`${b}/min_rate_test.ts`]: {
    "a stream below the minimum rate, which has committed > does not count if its client leaves, and leaves no timer":
      server,
  },
  [`${slow}/media_spend_test.ts`]: {
    "cost of media: images at the cost that xAI states cost 0.02 USD": vendor,
  },
  [`${b}/stream_usage_test.ts`]: {
    "The usage of a stream > is read in the choice, as Moonshot's": vendor,
  },
  [`${b}/budget_fees_test.ts`]: {
    "A fine-tuning job, whose cost is unknown": listens,
    "Tools that a vendor runs for a fee > are refused in a batch under a budget": listens,
  },
  [`${b}/catalogue_renewal_test.ts`]: vendor,
  [`${b}/daily_usage_test.ts`]: files,
  [`${b}/files_content_test.ts`]: listens,
  [`${b}/files_test.ts`]: listens,
  [`${b}/object_names_test.ts`]: listens,
  [`${b}/fine_tuning_test.ts`]: listens,
  [`${slow}/hanging_stores_test.ts`]: vendor,
  [`${b}/objects_client_test.ts`]: listens,
  [`${b}/open_models_test.ts`]: vendor,
  [`${b}/budget_events_test.ts`]: {
    "The event of a budget > goes to webhooks": listens,
    "The event of a budget > does not come again after a restart on the same state": files,
  },
  [`${b}/budget_windows_test.ts`]: {
    "a budget with a list of limits > is restored after a restart, and counts on under other limits of the same windows":
      files,
  },
  [`${b}/client_identity_test.ts`]: files,
  [`${b}/content_filter_test.ts`]: {
    "refused content > refuses no key and no provider with a 403": vendor,
  },
  [`${b}/content_filter_vendors_test.ts`]: {
    "refused content > is not carried on: Azure": vendor,
    "refused content > is not carried on: Azure, by the inner error alone": vendor,
    "refused content > is not carried on: xAI": vendor,
    "refused content > is not carried on: DeepSeek": vendor,
  },
  [`${b}/first_content_test.ts`]: {
    "the limit of the first content > ends with the client that leaves: nothing is counted, and nothing is left":
      server,
  },
  [`${b}/client_rates_test.ts`]: listens,
  [`${b}/client_stream_test.ts`]: {
    "A streamed response > that is closed throws with the text so far, and counts against its model": dropped,
    "A streamed response > that is reset throws with the text so far, and counts against its model": dropped,
  },
  [`${b}/client_test.ts`]: {
    "The signal of a call > and the time limit hold while the client gets ready": environment,
    "A closed client > that never had a configuration has nothing to close": files,
  },
  [`${b}/completions_test.ts`]: {
    "POST /v1/completions > serves the official client": sdk,
  },
  [`${slow}/compressed_bodies_test.ts`]: {
    "A compressed body > of br is read where the runtime has it, and else a 415": zlib,
    "A compressed body > of zstd is read where the runtime has it, and else a 415": zlib,
    "A compressed body > of a file is stored as what it contains, within the limit of uploads": listens,
  },
  [`${slow}/connector_packages_refused_test.ts`]: files,
  [`${b}/connector_packages_test.ts`]: files,
  [`${b}/client_mesh_config_test.ts`]: environment,
  [`${b}/create_config_test.ts`]: {
    "create() with a configuration > reads mesh.yaml, secrets and all, in ready()": files,
    "create() with a configuration > reads mesh.yml, secrets and all, in ready()": files,
    "create() with a configuration > reads mesh.json, secrets and all, in ready()": files,
    "create() with a configuration > takes a MeshConfig wherever a configuration is taken, and initialize() a path too":
      files,
    "create() with a configuration > reads a file once for all callers": files,
    "create() with a configuration > reports five mistakes at once, each with its path: an object at once, a file in ready()":
      files,
    "create() with a configuration > rejects the file nowhere.yaml with undefined": files,
    'create() with a configuration > rejects the file mesh.txt with "{\\"pools\\":{}}"': files,
    'create() with a configuration > rejects the file mesh with "pools: {}"': files,
    'create() with a configuration > rejects the file mesh.json with "pools: {}"': files,
    'create() with a configuration > rejects the file mesh.yaml with "pools: ["': files,
    'create() with a configuration > rejects the file mesh.yaml with ""': files,
    'create() with a configuration > rejects the file mesh.yaml with "- chat"': files,
    "create() with a configuration > does not go with providers": files,
    "create() with a configuration > does not go with strategy": files,
    "create() with a configuration > does not go with models": files,
    "create() with a configuration > finds providers in the environment when the document has none": environment,
    "MeshConfig > is the same loaded, parsed, and written and read again": files,
    "MeshConfig > throws all problems with the file's name, and changes nothing it was given": files,
  },
  [`${b}/create_test.ts`]: environment,
  [`${b}/describe_test.ts`]: {
    "client.describe() > shows what was detected, as a plain object": environment,
    "client.describe() > of a client whose configuration is a file says to await ready(), until then": files,
    "client.describe() > shows no key": environment,
  },
  [`${slow}/dialects_tools_test.ts`]: {
    "State that a vendor minted > moves with a conversation that fails over from its vendor to another one": sdk,
  },
  [`${b}/disconnect_test.ts`]: server,
  [`${b}/stream_ends_test.ts`]: server,
  [`${b}/errors_test.ts`]: {
    "Errors of another copy of the library": "runs code in another realm by node:vm",
  },
  [`${b}/embeddings_test.ts`]: {
    "client.embeddings > answers by the pool for embeddings of detected providers, beside chat": environment,
    "client.embeddings > answers for a client that is for chat": environment,
    "Embeddings by Gemini's own API": vendor,
    "The openai package": sdk,
  },
  [`${b}/documents_test.ts`]: {
    "client.documents > goes to Mistral's OCR, a file as a data address": vendor,
    "client.documents > goes to Firecrawl with an address alone": vendor,
  },
  [`${b}/image_edits_test.ts`]: {
    "The openai package": sdk,
  },
  [`${b}/images_test.ts`]: {
    "The openai package": sdk,
    "The form of images > is not a question for a model with one form, which others are asked in place of": environment,
    "client.images.generate > answers by the pool for images of detected providers": environment,
  },
  [`${slow}/failover_broken_test.ts`]: {
    "a provider on whose port no server listens": refused,
  },
  [`${slow}/four_dialects_test.ts`]: vendor,
  [`${slow}/failover_dialects_test.ts`]: {
    "a provider fails a client of messages, another is up > nobody who listens: the other one's stream comes": refused,
  },
  [`${b}/failover_stream_test.ts`]: {
    "a stream that breaks before its first content > nobody who listens: the client reads the other provider's stream and nothing else":
      refused,
  },
  [`${b}/kept_config_test.ts`]: files,
  [`${b}/heartbeat_test.ts`]: {
    "A stream without content after ten seconds > stops its call when the client leaves: chat": server,
    "A stream without content after ten seconds > stops its call when the client leaves: completions": server,
    "A stream without content after ten seconds > stops its call when the client leaves: two prompts": server,
    "A stream without content after ten seconds > stops its call when the client leaves: messages": server,
    "A stream without content after ten seconds > stops its call when the client leaves: responses": server,
    "A stream without content after ten seconds > stops its call when the client leaves: gemini": server,
    "A stream without content after ten seconds > stops its call when the client leaves: gemini's array": server,
  },
  [`${slow}/listed_names_test.ts`]: vendor,
  [`${b}/literal_tokens_test.ts`]: vendor,
  [`${slow}/load_test.ts`]: processes,
  [`${b}/local_servers_test.ts`]: environment,
  [`${b}/late_servers_test.ts`]: environment,
  [`${b}/fetch_proxy_test.ts`]: environment,
  [`${b}/malformed_requests_test.ts`]: sockets,
  [`${b}/mesh_override_test.ts`]: {
    "POST /mesh/activate and /mesh/deactivate > are never for pages of another origin, whatever CORS allows": server,
  },
  [`${b}/moderation_test.ts`]: {
    "Moderation by clients": environment,
  },
  [`${b}/rerank_test.ts`]: {
    "client.rerank > goes to Cohere's own path, beside its compatibility base": vendor,
  },
  [`${b}/runtime_client_secrets_test.ts`]: files,
  [`${slow}/runtime_clients_test.ts`]: files,
  [`${slow}/client_rotation_test.ts`]: files,
  [`${b}/search_test.ts`]: {
    "client.search > goes to detected vendors by turns, each in its own format, and costs what they charge":
      environment,
  },
  [`${b}/speech_delivery_test.ts`]: {
    "A provider of a program > has its time for a non-streaming response, and in a stream for each of its pieces":
      broken,
  },
  [`${b}/speech_test.ts`]: {
    "POST /v1/audio/speech > breaks off where its provider does": broken,
    "client.audio.speech > answers by the pool for speech of detected providers": environment,
    "The openai package": sdk,
  },
  [`${b}/transcription_test.ts`]: {
    "client.audio.transcriptions > answers by the pool for it of detected providers": environment,
    "Translation of speech > skips models and providers that only transcribe": vendor,
    "The openai package": sdk,
  },
  [`${b}/metrics_test.ts`]: {
    "a client's stats() > are those of its mesh": environment,
  },
  [`${b}/offered_models_test.ts`]: environment,
  [`${b}/messages_sdk_test.ts`]: sdk,
  [`${slow}/vendor_names_test.ts`]: {
    "Names of tools and ids of calls > suit azure.openai.v1, and clients see their own": vendor,
    "Names of tools and ids of calls > suit deepseek.api.v1, and clients see their own": vendor,
    "Names of tools and ids of calls > suit aws.bedrock.v1, and clients see their own": vendor,
    "Names of tools and ids of calls > of calls in a native request suit the Responses API": vendor,
  },
  [`${slow}/vendor_order_test.ts`]: {
    "A conversation that opens with a call > opens with a user's turn at aws.bedrock.v1": vendor,
    "Text of white space alone > never reaches Claude at Bedrock": vendor,
    "Stop sequences of white space alone > are removed and named at aws.bedrock.v1": vendor,
  },
  [`${slow}/vendor_queries_test.ts`]: vendor,
  [`${slow}/vendor_tools_test.ts`]: {
    "Arguments of an earlier call that are not a JSON object > reach aws.bedrock.v1 from clients whose dialect has objects":
      vendor,
    "Combined parameters of a tool > are one object at aws.bedrock.v1": vendor,
    "Arguments of an earlier call that are not a JSON object > reach aws.bedrock.v1 as an object": vendor,
  },
  [`${slow}/vendor_parameters_test.ts`]: {
    "What Gemini CLI always sends reaches no vendor that does not know it > azure.openai.v1: top_k and a fifth stop sequence, whole":
      vendor,
    "What Gemini CLI always sends reaches no vendor that does not know it > azure.openai.v1: top_k and a fifth stop sequence, streamed":
      vendor,
    "What Gemini CLI always sends reaches no vendor that does not know it > cerebras.api.v1: top_k and a fifth stop sequence, whole":
      vendor,
    "What Gemini CLI always sends reaches no vendor that does not know it > cerebras.api.v1: top_k and a fifth stop sequence, streamed":
      vendor,
    "Reasoning models that the catalogue does not know > azure.openai.v1 our-gpt-9 gets max_completion_tokens and no temperature":
      vendor,
    "Reasoning models that the catalogue does not know > azure.openai.v1 production gets max_completion_tokens and no temperature":
      vendor,
    "Reasoning models that the catalogue does not know > are not those of an earlier generation: gpt-4o-2031-01-01":
      vendor,
    "Reasoning models that the catalogue does not know > are not those of an earlier generation: gpt-4.1-nova": vendor,
    "Reasoning models that the catalogue does not know > are not those of an earlier generation: chatgpt-4o-latest":
      vendor,
    "Reasoning models that the catalogue does not know > are not those of an earlier generation: gpt-3.5-turbo-1106":
      vendor,
    "Reasoning models that the catalogue does not know > are not those of an earlier generation: ft:gpt-4o-mini:acme::1":
      vendor,
    "Reasoning models that the catalogue does not know > nor those that the configuration says cannot reason": vendor,
    "A reasoning effort > goes as high as the vendor goes": vendor,
  },
  [`${slow}/vendor_roles_test.ts`]: vendor,
  [`${b}/resource_lack_test.ts`]: server,
  [`${b}/responses_background_test.ts`]: server,
  [`${b}/responses_references_test.ts`]: server,
  [`${b}/responses_sdk_test.ts`]: sdk,
  [`${b}/responses_socket_life_test.ts`]: sockets,
  [`${b}/responses_state_socket_test.ts`]: sockets,
  [`${b}/responses_state_test.ts`]: server,
  [`${b}/responses_state_vendors_test.ts`]: server,
  [`${b}/responses_store_test.ts`]: server,
  [`${b}/responses_socket_test.ts`]: sockets,
  [`${slow}/openai_sdk_errors_test.ts`]: sdk,
  [`${b}/openai_sdk_test.ts`]: sdk,
  [`${b}/outage_events_test.ts`]: {
    "The event of an outage > goes to webhooks": listens,
  },
  [`${slow}/program_test.ts`]: processes,
  [`${b}/proxy_access_cors_test.ts`]: server,
  [`${b}/proxy_access_test.ts`]: server,
  [`${b}/proxy_bodies_test.ts`]: server,
  [`${slow}/prompt_cache_test.ts`]: {
    "the prompts of Bedrock": vendor,
    "the prompts of Claude behind a gateway in OpenAI's form": vendor,
    "prompt_cache_key > is sent to vendors that take it, in the APIs that do": vendor,
  },
  [`${b}/provider_errors_test.ts`]: {
    "A provider's own words > about a call for files are in the warning and the state, and not in the client's response":
      listens,
  },
  [`${b}/proxy_errors_body_test.ts`]: server,
  [`${b}/proxy_errors_path_test.ts`]: server,
  [`${b}/proxy_errors_test.ts`]: server,
  [`${b}/proxy_refused_log_test.ts`]: server,
  [`${b}/proxy_status_test.ts`]: server,
  [`${b}/regressions_stream_test.ts`]: {
    "A body that never ends": sockets,
    "A chunked body over the limit": sockets,
    "A client that stops reading its stream": sockets,
  },
  [`${b}/regressions_test.ts`]: {
    "A provider on the proxy's port number": server,
  },
  [`${b}/retry_deadline_test.ts`]: {
    "a call that never left > is repeated once, at once and for free": refused,
    "a call that never left > twice is a failure": refused,
  },
  [`${b}/retry_scope_test.ts`]: {
    "within one request > a host that refuses rules out the provider's other models": refused,
  },
  [`${b}/routing_record_test.ts`]: {
    "A routing record > of a client that left says 499": sockets,
  },
  [`${b}/save_config_test.ts`]: files,
  [`${b}/secret_numbers_test.ts`]: environment,
  [`${b}/secrets_start_test.ts`]: files,
  [`${b}/secrets_stores_test.ts`]: files,
  [`${slow}/secrets_test.ts`]: "prints by node:util",
  [`${b}/service_account_test.ts`]: environment,
  [`${slow}/storage_test.ts`]: files,
  [`${b}/tls_failures_test.ts`]: tls,
  [`${b}/user_agent_test.ts`]: "a page cannot set User-Agent",
  [`${b}/tokens_test.ts`]: {
    "a token endpoint that fails > to the end, by any means, is the provider's failure: the next model is asked, and the reason is recorded":
      redirected,
    "tokens > are there for a proxy that serve() starts": server,
  },
  [`${b}/environment_values_test.ts`]: environment,
  [`${slow}/passing_failures_test.ts`]: {
    "A prompt that is too long > has it also in the errors of Cloudflare": vendor,
  },
  [`${b}/rejected_members_test.ts`]: {
    "The options of a native stream of text completions > are left out once they are rejected, and the client's are its own":
      vendor,
    "The options of a native stream of text completions > are never sent to a model that is configured to drop them":
      vendor,
  },
  [`${b}/waiting_memory_test.ts`]: server,
  [`${b}/work_test.ts`]: "counts the work of a server's request; what stands in for its sockets works, too",
};

/**
 * Suites that the gate runs in pages: what depends on the runtime, such as streams, timers, connections and forms. `task
 * test:nightly` runs the others there.
 */
export const gateInPages: readonly string[] = [
  "retry_deadline",
  "stream_events",
].map((name) => `${b}/${name}_test.ts`);
