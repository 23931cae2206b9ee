/**
 * What the entries for programs and for pages export alike: errors, the types of requests, responses and records, the
 * interfaces of connectors, and the parts of a client. `connector_kit.ts` exports everything else.
 * @module
 */
export * from "./errors.ts";
export type { ErrorCode } from "./contracts/error_codes.ts";

export type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  ChatMessage,
  CompletionUsage,
  ErrorBody,
  RequestBody,
  Tool,
  ToolCall,
} from "./contracts/openai.ts";
export type { ChatMessageParam } from "./contracts/params.ts";
export type { AudioRequest, AudioResponse, SpeechRequest, Transcription } from "./contracts/audio.ts";
export type { DocumentRequest, DocumentResponse } from "./contracts/documents.ts";
export type { EmbeddingRequest, EmbeddingResponse } from "./contracts/embeddings.ts";
export type { ImageEditRequest, ImageRequest, ImagesResponse } from "./contracts/images.ts";
export type {
  Batch,
  BatchRequest,
  FileObject,
  FileUpload,
  FineTuneRequest,
  FineTuningJob,
  Infrastructure,
  ObjectPage,
} from "./contracts/infrastructure.ts";
export type { ModerationRequest, ModerationResponse } from "./contracts/moderation.ts";
export type { RerankRequest, RerankResponse } from "./contracts/rerank.ts";
export type { ModelResponse, ResponseEvent, ResponseItem, ResponseRequest } from "./contracts/responses.ts";
export type { SearchRequest, SearchResponse, SearchResult } from "./contracts/search.ts";

export type {
  EventKind,
  FallbackStep,
  LogRecord,
  MeshEvent,
  ModelTry,
  NoticeRecord,
  RequestLogRecord,
  RoutingRecord,
  StatsMetrics,
  StatsRecord,
  TraceEntry,
} from "./contracts/events.ts";
export type { ConfigDocument } from "./contracts/config_document.ts";
export type { CapabilityName, StrategyName, VendorName } from "./contracts/names.ts";
export type { Clock } from "./contracts/runtime.ts";

export type { Connector, PluggableConnector, ProviderConnector, ProviderSettings } from "./contracts/connector.ts";
export type { Discovery, ProviderHealth, SyncStatus } from "./contracts/discovery.ts";
export type { Observability, StatisticsReport } from "./contracts/observability.ts";
export type {
  CallOptions,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  FailureKind,
  ModelInfo,
  Pricing,
  Provider,
  RateLimits,
  UsageReport,
} from "./contracts/provider.ts";
export type {
  DeactivationPolicy,
  ModelView,
  RecoveryPolicy,
  SelectionContext,
  SelectionOutcome,
  SelectionStrategy,
  StandbyReason,
} from "./contracts/rotation.ts";
export type { SecretStore } from "./contracts/secret_store.ts";
export type { Storage } from "./contracts/storage.ts";
export type { BilledUsage, FurtherCall } from "./contracts/usage.ts";

export { CapabilityTree, capabilityTree } from "./capability/tree.ts";
export { MeshClient } from "./client/client.ts";
export type { ClientMesh } from "./client/client_mesh.ts";
export type { DescribedProvider, Description } from "./client/describe.ts";
export type { ParseRequest } from "./client/resources.ts";
export type { ExplainOptions } from "./client/explain.ts";
export type { BatchSubmission, FileUploadRequest } from "./client/objects.ts";
export type * from "./client/options.ts";
export type { FileInput } from "./client/read_files.ts";
export type { ResponseStream } from "./client/response_stream.ts";
export { ChatStream } from "./client/stream.ts";
export type { TextTranscriptionRequest, TranscriptionRequest } from "./client/media.ts";
export type { ListedPool, Mesh } from "./engine/mesh.ts";
export { routingOf } from "./observe/routing_of.ts";
export type { ExcludedModel, ExplainedModel, ExplainedQueue, Explanation } from "./pipeline/explain.ts";
export type { ModelList } from "./registry/model_list.ts";
export type { ListedModel, PoolStatus } from "./registry/status.ts";
export type { MeshSnapshot } from "./state/persistence/snapshot.ts";
export { version } from "./version.ts";
