/**
 * What reads something, and is not in the table of growth.
 * @module
 */

const oneValue = "one value, without a loop";
const ownProcess = "input of the operator's own command line";

/** Reasons, by path and name, or the beginning of them. */
export const bounded: Readonly<Record<string, string>> = {
  "connectors/providers/_anthropic_content.ts#readCacheControl": oneValue,
  "connectors/providers/_bedrock_blocks.ts#fromConverseCitation": oneValue,
  "connectors/providers/_gemini_output.ts#toOutputImage": oneValue,
  "src/dialects/messages/_citations.ts#toCitation": oneValue,
  "src/util/annotations.ts#toAnnotation": oneValue,
  "connectors/providers/_anthropic_usage.ts#toFinishReason": oneValue,
  "connectors/providers/_anthropic_usage.ts#toRefusal": oneValue,
  "connectors/providers/_lazy.ts#loadedBy": "declarations of connectors",
  "src/cli/": ownProcess,
  "src/client/objects.ts#Batches": "calls of the library; lists are pages, see object_records.ts",
  "src/config/check/attributes.ts#readAttributes": "attributes that a connector declares",
  "src/config/load/config_source.ts#readSource": "reads a file; its text is parsed by readYaml and readJsonDocument",
  "src/config/schema/_containers.ts#list": "declares a field",
  "src/dialects/responses/_answer.ts#statusOf": oneValue,
  "src/infrastructure/batch_request.ts#readWindow": "one value, parsed by parseDuration",
  "src/infrastructure/batches.ts#Batches": "at most 64 parts",
  "src/observe/statistics.ts#countEvents": "subscribes to events",
  "src/pipeline/content_stream.ts#ContentStream": "passes chunks of bytes on",
  "src/pipeline/operations/_images.ts#readImageUsage": oneValue,
  "src/pipeline/read_response.ts#readModelId": oneValue,
  "src/pipeline/read_response.ts#readResponse": oneValue,
  "src/pipeline/request.ts#toClientFacts": oneValue,
  "src/pipeline/routing_record.ts#readFault": oneValue,
  "src/proxy/clients/client_input.ts#": "members that administrators set; lists of pools are bounded by the pools",
  "src/proxy/overview/record_stream.ts#recordStream": "at most 1 000 records",
  "src/proxy/heartbeat.ts#respondWithStream": "passes pieces of a stream on",
  "src/proxy/sse.ts#toStreamFormat": "converts no data",
  "src/registry/_manifest.ts#readManifest": "an archive that the operator chose, of at most 1 000 files",
  "src/runtime/_authorities.ts#readAuthorities": "a file of the operator",
  "src/runtime/_descriptors.ts#parseDescriptorLimit": "a file of the kernel",
  "src/state/replication/acknowledgements.ts#toSharedSum": oneValue,
  "src/state/replication/breaker_events.ts#BreakerEvents": "messages of the mesh's own processes",
  "src/util/cron.ts#parseCron": "at most 200 characters",
  "src/util/failure.ts#describeFailure": oneValue,
  "src/util/form_stream.ts#writeFormStream": "writes what it is given",
  "src/util/normalize_message.ts#toArguments": oneValue,
  "src/util/plain_stream.ts#isStream": oneValue,
  "src/util/watch_text.ts#readIfPresent": "a file of the operator",
};
