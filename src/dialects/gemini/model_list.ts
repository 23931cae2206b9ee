/**
 * Pools and models as Gemini's list of models has them.
 *
 * Source: https://ai.google.dev/api/models, read 2026-11-23.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { JsonObject } from "../../contracts/openai.ts";
import type { ModelConstraints } from "../../contracts/provider.ts";

/** What is known of a model or pool. */
interface ListedFacts {
  readonly id: string;
  /** Full paths. */
  readonly leaves: readonly string[];
  /** Of a model; undefined: of a pool. */
  readonly constraints?: ModelConstraints | undefined;
}

/** A model as its list has it, with the methods that can be called. */
export function listedModel({ id, leaves, constraints }: ListedFacts): JsonObject {
  const does = (operation: "chat" | "embeddings") => leaves.some((leaf) => servesOperation(leaf, operation));
  const { context_window: input, max_output_tokens: output } = constraints ?? {};
  return {
    name: `models/${id}`,
    version: "1",
    displayName: id,
    ...(input === undefined ? {} : { inputTokenLimit: input }),
    ...(output === undefined ? {} : { outputTokenLimit: output }),
    supportedGenerationMethods: [
      ...(does("chat") ? ["generateContent", "countTokens"] : []),
      ...(does("embeddings") ? ["embedContent", "batchEmbedContents"] : []),
    ],
  };
}
