/**
 * Bounds the lists of models of providers.
 * @module
 */
import type { ModelInfo } from "../contracts/provider.ts";
import { UpstreamError } from "../errors.ts";

/** Maximum number of models of a provider: each of them has its state. */
const maxModels = 100_000;

/**
 * Checks the length of a provider's list.
 *
 * @throws {UpstreamError} `invalid_response` if it is too long.
 */
export function checkModelCount(models: readonly ModelInfo[]): readonly ModelInfo[] {
  if (models.length <= maxModels) return models;
  throw new UpstreamError(`The provider lists over ${maxModels} models`, { kind: "invalid_response" });
}
