/**
 * Fireworks AI: each of its audio models has its own host.
 *
 * Source: docs.fireworks.ai/guides/querying-asr-models.
 * @module
 */
import type { ProviderConnector, ProviderSettings } from "../../src/contracts/connector.ts";
import { fireworks } from "./model_hosts.ts";
import { OpenAiCompatibleProvider } from "./_openai_compatible.ts";
import { createDeclaration } from "./_openai_vendor.ts";

/** The Fireworks AI connector with its implementation. A configured base URL applies to all calls. */
export const fireworksConnector: ProviderConnector = {
  ...createDeclaration(fireworks),
  create(settings, runtime) {
    const own = settings as ProviderSettings;
    const address = (path: string, model = "") =>
      `${path.startsWith("audio/") ? selectHost(model) : fireworks.baseUrl}/${path}`;
    return new OpenAiCompatibleProvider(
      own.baseUrl === undefined ? { ...fireworks, address } : fireworks,
      own,
      runtime,
    );
  },
};

function selectHost(model: string): string {
  return `https://audio-${model.endsWith("turbo") ? "turbo" : "prod"}.api.fireworks.ai/v1`;
}
