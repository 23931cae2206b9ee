/**
 * A sink that delivers to a scripted server.
 * @module
 */
import { webhookObservability } from "../../connectors/observability/webhook.ts";
import type { MeshEvent } from "../../src/contracts/events.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { retryingClock } from "../support/sinks.ts";
import { type Behaviour, json, type Script, startUpstream, type Upstream } from "../support/upstream.ts";

const { send } = denoRuntime();

/** A sink with its server and its clock. */
export interface WebhookStage {
  readonly server: Upstream;
  readonly clock: ReturnType<typeof retryingClock>;
  readonly sink: ReturnType<typeof webhookObservability.create>;
}

/** Returns an event with an id. */
export function event(id: string): MeshEvent {
  return { type: "event", event: "rotation", id, timestamp: "t", provider: "p", reason: "r", metadata: { text: "ü" } };
}

/** A sink that delivers to a scripted server. Its clock skips waits for another try, and stands at the real time. */
export async function setUp(
  script: Script,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<WebhookStage> {
  const server = await startUpstream(script);
  const clock = retryingClock(Date.now());
  const runtime = { ...denoRuntime(), send, clock };
  const sink = webhookObservability.create({ url: `${server.url}/hook?team=a`, ...settings }, runtime);
  return { server, clock, sink };
}

/** What a server responds that takes a delivery. */
export const accepted: Behaviour = json({});
