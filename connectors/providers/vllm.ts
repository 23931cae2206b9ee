/**
 * vLLM on one's own machine.
 *
 * Source: docs.vllm.ai, OpenAI-compatible server.
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import { localServer } from "./_local_server.ts";

/** vLLM. */
export const vllm: ProviderConnector = localServer({
  id: "vllm.local.v1",
  vendor: "vllm",
  port: 8000,
  prefix: "VLLM",
  keys: ["VLLM_API_KEY"],
});
