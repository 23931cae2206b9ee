/**
 * Ollama on one's own machine.
 *
 * Source: docs.ollama.com/api/openai-compatibility (it knows `max_tokens`, and neither `n` nor `logit_bias`).
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import { localServer } from "./_local_server.ts";

/** Ollama. */
export const ollama: ProviderConnector = localServer({
  id: "ollama.local.v1",
  vendor: "ollama",
  port: 11434,
  prefix: "OLLAMA",
  parameters: { rename: { max_completion_tokens: "max_tokens" }, drop: ["logit_bias"], refuse: ["n"] },
});
