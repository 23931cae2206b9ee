/**
 * Pools and models in the format of Gemini's model list.
 *
 * Source: https://ai.google.dev/api/models, read 2026-11-23.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { JsonObject } from "../../contracts/openai.ts";
import type { ModelConstraints } from "../../contracts/provider.ts";

/** The list entry of a model or pool, with the supported methods. */
export function formatListedModel({ id, leaves, constraints }: {
  readonly id: string;
  /** Full paths of its capability leaves. */
  readonly leaves: readonly string[];
  /** Size constraints of a model; undefined for a pool. */
  readonly constraints?: ModelConstraints | undefined;
}): JsonObject {
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
