/**
 * Whether a provider takes a model's requests in a dialect.
 * @module
 */
import type { Provider } from "../contracts/provider.ts";

/**
 * Whether requests in a dialect go to a model as they are.
 *
 * @param provider Undefined before the mesh is initialised.
 * @param dialect Its name.
 * @param model The provider's own id.
 */
export function speaks(provider: Provider | undefined, dialect: string, model: string): boolean {
  const dialects = provider?.dialects;
  return (typeof dialects === "function" ? dialects(model) : dialects)?.includes(dialect) === true;
}
