/**
 * LocalAI on one's own machine.
 *
 * Source: localai.io/docs.
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import { localServer } from "./_local_server.ts";

/** LocalAI. */
export const localai: ProviderConnector = localServer({
  id: "localai.local.v1",
  vendor: "localai",
  port: 8080,
  prefix: "LOCALAI",
  parameters: { rename: { max_completion_tokens: "max_tokens" } },
});
