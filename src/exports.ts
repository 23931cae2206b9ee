/**
 * What every entry of the package exports: errors, contracts, and the parts of a client.
 * @module
 */
export * from "./errors.ts";
export type * from "./contracts/audio.ts";
export type * from "./contracts/browser_provider.ts";
export type * from "./contracts/params.ts";
export type * from "./contracts/config_document.ts";
export type * from "./contracts/connector.ts";
export type * from "./contracts/error_codes.ts";
export type * from "./contracts/events.ts";
export type * from "./contracts/images.ts";
export type * from "./contracts/infrastructure.ts";
export type * from "./contracts/metrics.ts";
export type * from "./contracts/discovery.ts";
export type * from "./contracts/names.ts";
export type * from "./contracts/observability.ts";
export type * from "./contracts/openai.ts";
export type * from "./contracts/provider.ts";
export type * from "./contracts/responses.ts";
export type * from "./contracts/rotation.ts";
export type * from "./contracts/runtime.ts";
export type * from "./contracts/secret_store.ts";
export type * from "./contracts/storage.ts";
export { CapabilityTree, capabilityTree } from "./capability/tree.ts";
export { nearestCapabilities } from "./capability/nearest.ts";
export { deliveryModes } from "./capability/delivery.ts";
export { operationLeaves, servesOperation } from "./capability/operations.ts";
export { Chat, Completions } from "./client/chat.ts";
export { MeshClient } from "./client/client.ts";
export type { Audio } from "./client/audio.ts";
export type { Documents, ParseRequest } from "./client/documents.ts";
export type { Embeddings } from "./client/embeddings.ts";
export type { ExplainOptions } from "./client/explain.ts";
export type { Images } from "./client/images.ts";
export type { Lazy } from "./client/lazy.ts";
export type { Moderations } from "./client/moderations.ts";
export type { Rerank } from "./client/rerank.ts";
export type { Responses } from "./client/responses.ts";
export type { ResponseStream } from "./client/response_stream.ts";
export type { Search } from "./client/search.ts";
export type { FileInput } from "./client/read_files.ts";
export type * from "./client/objects.ts";
export type { Speech } from "./client/speech.ts";
export type {
  TextTranscriptionRequest,
  TranscriptionRequest,
  Transcriptions,
  Translations,
} from "./client/transcriptions.ts";
export type { DescribedPool, DescribedProvider, Description } from "./client/describe.ts";
export type * from "./client/options.ts";
export { ChatStream } from "./client/stream.ts";
export type { ClientMesh } from "./client/client_mesh.ts";
export type { ListedPool, Mesh } from "./engine/mesh.ts";
export { routingOf } from "./observe/routing_of.ts";
export type { AliasFacts, ListedEntry, ModelFacts, ModelList, PoolFacts } from "./registry/model_list.ts";
export type { ProviderLastError } from "./registry/registry.ts";
export type { ListedModel, ModelStatus, PoolStatus } from "./registry/status.ts";
export type { ExcludedModel, Explanation } from "./pipeline/explain.ts";
export type { BreakerNames, BreakerOwner, OverrideCause } from "./state/breaker/circuit_breaker.ts";
export type { KeyRejectionReason } from "./state/limits/api_key_pool.ts";
export type {
  MeshSnapshot,
  SavedApiKey,
  SavedBreaker,
  SavedFailures,
  SavedSpending,
  SavedUsage,
} from "./state/persistence/snapshot.ts";
export type { BudgetSnapshot } from "./state/limits/budget.ts";
export type { SavedWindow } from "./state/counters/window_counter.ts";
export type { UsageCounts } from "./state/limits/quota.ts";
export { version } from "./version.ts";
