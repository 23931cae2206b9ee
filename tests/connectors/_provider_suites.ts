/**
 * The suite that is the same for each provider connector.
 * @module
 */
import { servesOperation } from "../../src/capability/operations.ts";
import { bedrock } from "../support/_bedrock.ts";
import { speaking } from "../support/_dialects.ts";
import { loadedProviders } from "../support/connectors.ts";
import { event } from "../support/event_frames.ts";
import type { Behaviour } from "../support/upstream.ts";
import { testProvider } from "./_provider.ts";
import type { ProviderFixture } from "./_provider_calls.ts";

type Dialect = Omit<ProviderFixture, "connector">;

const openai: Dialect = { ...speaking.openai, unknownEvent: ": ping\n\nevent: ping\ndata: {}\n\n" };
const anthropic: Dialect = { ...speaking.anthropic, unknownEvent: 'event: news\ndata: {"type":"news"}\n\n' };
const gemini: Dialect = { ...speaking.gemini, unknownEvent: 'data: {"news":true}\n\n' };
const vertex = { project: "my-project", location: "europe-west1" };

/** OpenAI's, with the usage of a stream for all who ask, and for those who do not. */
const unasked: Dialect = { ...openai, respond: (reply) => asIfAsked(openai.respond(reply)) };

/** What a vendor speaks, where it is not OpenAI's dialect alone, and the settings that it needs. */
const dialects: Readonly<Record<string, readonly Dialect[]>> = {
  "anthropic.claude.v1": [anthropic],
  "aws.bedrock.v1": [{ ...bedrock, unknownEvent: event("news", {}), config: { region: "eu-central-1" } }],
  "google.gemini.v1": [gemini],
  "google.vertex.v1": [{ ...gemini, config: vertex }, { ...anthropic, config: vertex }],
  "mistral.api.v1": [unasked],
  "perplexity.search.v1": [unasked],
};

/** Connectors of each dialect. Others only declare what they differ in. */
const representatives: readonly string[] = [...Object.keys(dialects), "openai.compatible.v1", "openai.llm.v1"];

/** Defines the suites of connectors: the representatives of their dialects, or all others. */
export function testProviders(which: "representatives" | "others"): void {
  for (const { id, models } of loadedProviders) {
    if (representatives.includes(id) !== (which === "representatives")) continue;
    // what is known to have no chat has its suite in operations_test.ts
    if (
      models.length > 0 &&
      !models.some(({ capabilities = [] }) => capabilities.some((leaf) => servesOperation(leaf, "chat")))
    ) continue;
    for (const dialect of dialects[id] ?? [openai]) testProvider({ ...dialect, connector: id });
  }
}

function asIfAsked(behaviour: Behaviour): Behaviour {
  return {
    play(exchange) {
      const { request } = exchange;
      const json = () => ({ ...request.json(), stream_options: { include_usage: true } });
      return behaviour.play({ ...exchange, request: { ...request, json } });
    },
  };
}
