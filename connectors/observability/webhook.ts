/**
 * Posts events as webhooks, in the Standard Webhooks format.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { MeshEvent } from "../../src/contracts/events.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";
import { fromBase64, toBase64 } from "../../src/util/base64.ts";
import { webhookDeclaration } from "./declarations.ts";
import { DeliveryQueue } from "./_delivery_queue.ts";
import { post, type PostedDelivery } from "./_post.ts";

const capacity = 1_000;
const secretPrefix = "whsec_";
const encoder = new TextEncoder();

/** Delivers events one by one; its declaration documents the attributes. */
export const webhookObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create: createWebhookSink },
  webhookDeclaration,
);

function createWebhookSink({ url, secret }: Readonly<Record<string, unknown>>, runtime: Runtime): Observability {
  if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw createWebhookError("url", "requires an http or https URL");
  }
  const key = secret === undefined ? undefined : importSecret(decodeSecret(secret));
  key?.catch(() => {}); // reported by the deliveries
  const queue = new DeliveryQueue<MeshEvent>({
    capacity,
    batch: 1,
    deliver: async ([event]) =>
      await post(() => createDelivery(event!, { url, key, now: runtime.clock.now() }), runtime),
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
async function createDelivery(event: MeshEvent, { url, key, now }: {
  readonly url: string;
  readonly key: Promise<CryptoKey> | undefined;
  /** Wall-clock time, ms since the Unix epoch. */
  readonly now: number;
}): Promise<PostedDelivery> {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(now / 1000));
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "webhook-id": event.id,
    "webhook-timestamp": timestamp,
  };
  if (key !== undefined) {
    const signed = encoder.encode(`${event.id}.${timestamp}.${body}`);
    const signature = new Uint8Array(await crypto.subtle.sign("HMAC", await key, signed));
    headers["webhook-signature"] = `v1,${toBase64(signature)}`;
  }
  return { url, headers, body };
}

async function importSecret(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

/** A Standard Webhooks secret is base64 after its prefix; any other secret is used unchanged. */
function decodeSecret(secret: unknown): Uint8Array<ArrayBuffer> {
  if (typeof secret !== "string") throw createWebhookError("secret", "must be a string");
  const bytes = secret.startsWith(secretPrefix)
    ? decodeBase64Secret(secret.slice(secretPrefix.length))
    : encoder.encode(secret);
  if (bytes.length === 0) throw createWebhookError("secret", "must not be empty");
  return bytes;
}

function decodeBase64Secret(text: string): Uint8Array<ArrayBuffer> {
  try {
    return fromBase64(text);
  } catch {
    throw createWebhookError("secret", `has no base64 after "${secretPrefix}"`);
  }
}

function createWebhookError(setting: string, message: string): ConfigError {
  return new ConfigError([{ path: `observability.routing.${setting}`, message: `"mesh.webhook.v1" ${message}` }]);
}
