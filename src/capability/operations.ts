/**
 * Which capabilities an endpoint serves.
 * @module
 */
import type { CapabilityPath, OperationName } from "../contracts/provider.ts";
import { type CapabilityTree, isAtOrBelow } from "./tree.ts";

/** The operations that have an endpoint and a method: their leaves get pools by themselves. */
export const servedOperations: readonly OperationName[] = [
  "chat",
  "embeddings",
  "moderation",
  "rerank",
  "search",
  "speech",
];

/** The nodes whose leaves a call serves, for each operation but `chat`. */
const nodes: Readonly<Record<Exclude<OperationName, "chat">, CapabilityPath>> = {
  embeddings: "representation.embeddings",
  speech: "generation.audio.text-to-speech",
  transcription: "understanding.audio.speech-to-text",
  "audio-translation": "understanding.audio.speech-to-text",
  image: "generation.image",
  moderation: "evaluation.content-moderation",
  rerank: "retrieval.reranking",
  search: "retrieval.search",
  documents: "document-understanding.document-parsing",
};

/** Nodes among them that have an endpoint of their own. */
const exceptions: readonly CapabilityPath[] = [
  "document-understanding.document-parsing",
  "evaluation.content-moderation",
];

/** The nodes whose leaves a chat call serves, save the exceptions. */
const chatNodes: readonly CapabilityPath[] = [
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
];

/**
 * Whether a call of an operation serves a leaf. A custom leaf counts by the nodes above it.
 *
 * @param leaf Full path of a leaf.
 * @param operation What the call does.
 *
 * @example
 * ```ts ignore
 * servesOperation("interaction.tool-calling", "chat"); // true
 * ```
 */
export function servesOperation(leaf: CapabilityPath, operation: OperationName): boolean {
  return operation === "chat" ? servesChat(leaf) : isAtOrBelow(leaf, nodes[operation]);
}

/** Whether a chat call serves a leaf, in any delivery mode. */
export function servesChat(leaf: CapabilityPath): boolean {
  return chatNodes.some((node) => isAtOrBelow(leaf, node)) && !exceptions.some((node) => isAtOrBelow(leaf, node));
}

/**
 * The leaves a call of an operation serves, in the tree's order.
 *
 * @param tree The tree of capabilities.
 * @param operation What the call does.
 */
export function operationLeaves(tree: CapabilityTree, operation: OperationName): readonly CapabilityPath[] {
  return tree.leaves().filter((leaf) => servesOperation(leaf, operation));
}
