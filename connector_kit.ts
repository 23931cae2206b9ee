/**
 * What writers of connectors need beyond the main entry: the contracts of every kind of connector with all their parts,
 * and the base classes of providers. Also the parts of types that the main entry names, for programs that pass one on.
 *
 * @example
 * ```ts
 * import { BaseProvider, type CompletionRequest, type CompletionResponse } from "@modelmesh/core/connectors";
 *
 * const models = [{ id: "echo-1", capabilities: ["chat-completion"] }];
 * class Echo extends BaseProvider {
 *   override listModels() {
 *     return Promise.resolve(models);
 *   }
 *
 *   protected override chat({ body, model }: CompletionRequest): Promise<CompletionResponse> {
 *     const { content } = body.messages.at(-1)!;
 *     const message = { role: "assistant" as const, content: `${content}`, refusal: null };
 *     const choices = [{ index: 0, message, finish_reason: "stop" as const, logprobs: null }];
 *     return Promise.resolve({ body: { id: "1", object: "chat.completion", created: 0, model: model.id, choices } });
 *   }
 * }
 * console.log(new Echo("echo", models).id); // echo
 * ```
 * @module
 */
export * from "./src/errors.ts";
export type * from "./src/contracts/audio.ts";
export type * from "./src/contracts/browser_provider.ts";
export type * from "./src/contracts/params.ts";
export type * from "./src/contracts/config_document.ts";
export type * from "./src/contracts/connector.ts";
export type * from "./src/contracts/error_codes.ts";
export type * from "./src/contracts/events.ts";
export type * from "./src/contracts/images.ts";
export type * from "./src/contracts/guard.ts";
export type * from "./src/contracts/infrastructure.ts";
export type * from "./src/contracts/metrics.ts";
export type * from "./src/contracts/discovery.ts";
export type * from "./src/contracts/names.ts";
export type * from "./src/contracts/observability.ts";
export type * from "./src/contracts/openai.ts";
export type * from "./src/contracts/provider.ts";
export type * from "./src/contracts/responses.ts";
export type * from "./src/contracts/rotation.ts";
export type * from "./src/contracts/runtime.ts";
export type * from "./src/contracts/secret_store.ts";
export type * from "./src/contracts/storage.ts";
export type * from "./src/contracts/usage.ts";
export { CapabilityTree, capabilityTree } from "./src/capability/tree.ts";
export { nearestCapabilities } from "./src/capability/tree.ts";
export { deliveryModes } from "./src/capability/operations.ts";
export { operationLeaves, servesOperation } from "./src/capability/operations.ts";
export type { Chat, Completions } from "./src/client/lazy.ts";
export type { MeshClient } from "./src/client/client.ts";
export type { Audio } from "./src/client/lazy.ts";
export type { Documents, Embeddings, Moderations, ParseRequest, Rerank, Search } from "./src/client/resources.ts";
export type { ExplainOptions } from "./src/client/explain.ts";
export type { Lazy } from "./src/client/lazy.ts";
export type { Responses } from "./src/client/responses.ts";
export type { ResponseStream } from "./src/client/response_stream.ts";
export type { FileInput } from "./src/client/read_files.ts";
export type * from "./src/client/objects.ts";
export type {
  Images,
  Speech,
  TextTranscriptionRequest,
  TranscriptionRequest,
  Transcriptions,
  Translations,
} from "./src/client/media.ts";
export type { DescribedPool, DescribedProvider, Description } from "./src/client/describe.ts";
export type * from "./src/client/options.ts";
export type { ChatStream } from "./src/client/stream.ts";
export type { ClientMesh } from "./src/client/client_mesh.ts";
export type { ListedPool, Mesh } from "./src/engine/mesh.ts";
export type { AliasFacts, ListedEntry, ModelFacts, ModelList, PoolFacts } from "./src/registry/model_list.ts";
export type { ProviderLastError } from "./src/registry/registry.ts";
export type { ListedModel, ModelStatus, PoolStatus } from "./src/registry/status.ts";
export type { ExcludedModel, ExplainedModel, ExplainedQueue, Explanation } from "./src/pipeline/explain.ts";
export type { BreakerNames, BreakerOwner, OverrideCause } from "./src/state/breaker/circuit_breaker.ts";
export type { KeyRejectionReason } from "./src/state/limits/api_key_pool.ts";
export type {
  MeshSnapshot,
  SavedApiKey,
  SavedBreaker,
  SavedFailures,
  SavedSpending,
  SavedUsage,
} from "./src/state/persistence/snapshot.ts";
export type { BudgetSnapshot, SavedLimit } from "./src/state/limits/budget.ts";
export type { SavedWindow } from "./src/state/counters/window_counter.ts";
export type { UsageCounts } from "./src/state/limits/quota.ts";
export type { MockBody } from "./src/client/mock.ts";
export type { MeshConfigBase } from "./src/config/load/mesh_config.ts";
export type { ModelMeshBase } from "./src/client/model_mesh.ts";
export type { StatePersistence } from "./src/state/state_persistence.ts";
export type { RetryHint } from "./src/util/retry_after.ts";
export { BaseProvider } from "./connectors/providers/_base.ts";
export type { FaultReader } from "./connectors/providers/_http.ts";
export { openAiCompatible, OpenAiCompatibleProvider } from "./connectors/providers/_openai_compatible.ts";
export type {
  OpenAiCompatible,
  Post,
  PostedRequest,
  VendorOperation,
  VendorOperations,
} from "./connectors/providers/_openai_vendor.ts";
