/**
 * Maps operations to the capabilities that they serve, and capabilities to the ways in which they are delivered.
 * @module
 */
import type { CapabilityPath, Delivery, OperationName } from "../contracts/provider.ts";
import { type CapabilityTree, isAtOrBelow } from "./tree.ts";

/** Operations with an endpoint and a client method. Pools are created automatically for the leaves they serve. */
export const servedOperations: readonly OperationName[] = [
  "chat",
  "embeddings",
  "image",
  "image-edit",
  "moderation",
  "rerank",
  "search",
  "documents",
  "speech",
  "transcription",
  "audio-translation",
];

/** The nodes whose leaves an operation serves, except those below. */
const nodes: Readonly<Record<OperationName, readonly CapabilityPath[]>> = {
  chat: [
    "generation.text-generation",
    "generation.structured-generation",
    "understanding.text-understanding",
    "understanding.vision-understanding",
    "interaction",
    "retrieval.rag",
    "document-understanding",
    "transformation.translation",
    "transformation.rewriting",
    "transformation.style-transfer",
    "evaluation",
  ],
  embeddings: ["representation.embeddings"],
  speech: ["generation.audio.text-to-speech"],
  transcription: ["understanding.audio.speech-to-text"],
  "audio-translation": ["understanding.audio.speech-to-text"],
  image: ["generation.image"],
  "image-edit": ["generation.image.image-to-image", "generation.image.inpainting"],
  moderation: ["evaluation.content-moderation"],
  rerank: ["retrieval.reranking"],
  search: ["retrieval.search"],
  documents: ["document-understanding.document-parsing"],
};

/** Excluded nodes: they have an endpoint of their own. */
const exceptions: Readonly<Partial<Record<OperationName, readonly CapabilityPath[]>>> = {
  chat: [...nodes.documents, ...nodes.moderation],
  image: nodes["image-edit"],
};

/**
 * Whether an operation serves a leaf, in any delivery mode. A custom leaf inherits this from its ancestors.
 *
 * @param leaf Full path of a leaf.
 *
 * @example
 * ```ts
 * import { servesOperation } from "@modelmesh/core/connectors";
 *
 * console.log(servesOperation("interaction.tool-calling", "chat")); // true
 * ```
 */
export function servesOperation(leaf: CapabilityPath, operation: OperationName): boolean {
  const isAmong = (node: CapabilityPath) => isAtOrBelow(leaf, node);
  return nodes[operation].some(isAmong) && !exceptions[operation]?.some(isAmong);
}

/**
 * The leaves that an operation serves, in tree order.
 *
 * @param tree The tree of capabilities.
 */
export function operationLeaves(tree: CapabilityTree, operation: OperationName): readonly CapabilityPath[] {
  return tree.leaves().filter((leaf) => servesOperation(leaf, operation));
}

const everyMode: readonly Delivery[] = ["sync", "stream", "batch"];
const nonStreaming: readonly Delivery[] = ["sync", "batch"];
const syncOnly: readonly Delivery[] = ["sync"];

const batchable: ReadonlySet<CapabilityPath> = new Set([
  "generation.image.text-to-image",
  "representation.embeddings.text-embeddings",
  "understanding.audio.speech-to-text",
  "document-understanding.document-parsing",
  "evaluation.content-moderation",
]);

/**
 * The delivery modes of a capability. A model's settings can restrict, but not extend them.
 *
 * @param path Full path of a leaf.
 *
 * @example
 * ```ts
 * import { deliveryModes } from "@modelmesh/core/connectors";
 *
 * console.log(deliveryModes("representation.embeddings.text-embeddings")); // ["sync", "batch"]
 * ```
 */
export function deliveryModes(path: CapabilityPath): readonly Delivery[] {
  if (servesOperation(path, "chat") || servesOperation(path, "speech")) return everyMode;
  return batchable.has(path) ? nonStreaming : syncOnly;
}
