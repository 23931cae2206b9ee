/**
 * LM Studio on one's own machine.
 *
 * Source: lmstudio.ai/docs.
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import { localServer } from "./_local_server.ts";

/** LM Studio. */
export const lmstudio: ProviderConnector = localServer({
  id: "lmstudio.local.v1",
  vendor: "lmstudio",
  port: 1234,
  prefix: "LMSTUDIO",
  keys: ["LMSTUDIO_API_KEY"],
  parameters: { rename: { max_completion_tokens: "max_tokens" } },
});
