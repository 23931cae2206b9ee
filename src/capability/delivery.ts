/**
 * The delivery modes of a capability.
 * @module
 */
import type { CapabilityPath, Delivery } from "../contracts/provider.ts";
import { servesOperation } from "./operations.ts";

const everyMode: readonly Delivery[] = ["sync", "stream", "batch"];
const wholeAnswers: readonly Delivery[] = ["sync", "batch"];
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
 * deliveryModes("representation.embeddings.text-embeddings"); // ["sync", "batch"]
 * ```
 */
export function deliveryModes(path: CapabilityPath): readonly Delivery[] {
  if (servesOperation(path, "chat") || servesOperation(path, "speech")) return everyMode;
  return batchable.has(path) ? wholeAnswers : syncOnly;
}
