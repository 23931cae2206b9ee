/**
 * Posts events as webhooks, in the Standard Webhooks format.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { MeshEvent } from "../../src/contracts/events.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";
import { createWebhookSigner, type WebhookSigner } from "../_webhook_signature.ts";
import { webhookDeclaration } from "./declarations.ts";
import { DeliveryQueue } from "./_delivery_queue.ts";
import { post, type PostedDelivery } from "./_post.ts";

const capacity = 1_000;

/** Delivers events one by one; its declaration documents the attributes. */
export const webhookObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create: createWebhookSink },
  webhookDeclaration,
);

function createWebhookSink({ url, secret }: Readonly<Record<string, unknown>>, runtime: Runtime): Observability {
  if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw createWebhookError("url", "requires an http or https URL");
  }
  const signer = createWebhookSigner(secret, (message) => createWebhookError("secret", message));
  const queue = new DeliveryQueue<MeshEvent>({
    capacity,
    batch: 1,
    deliver: async ([event]) =>
      await post(() => createDelivery(event!, { url, signer, now: runtime.clock.now() }), runtime),
  });
  return {
    get lost() {
      return queue.lost;
    },
    emit(record) {
      if (record.type === "event") queue.add(record);
    },
    trace: () => {},
    flush: () => queue.idle(),
  };
}

/** The id is the same for all retries; the timestamp is that of the attempt. */
async function createDelivery(event: MeshEvent, { url, signer, now }: {
  readonly url: string;
  readonly signer: WebhookSigner;
  /** Wall-clock time, ms since the Unix epoch. */
  readonly now: number;
}): Promise<PostedDelivery> {
  const body = JSON.stringify(event);
  return { url, headers: await signer.sign(body, event.id, now), body };
}

function createWebhookError(setting: string, message: string): ConfigError {
  return new ConfigError([{ path: `observability.routing.${setting}`, message: `"mesh.webhook.v1" ${message}` }]);
}
