/**
 * A guard that asks a service over HTTP, with the signature of webhooks. The service answers with a verdict:
 * `{"action": "allow"}`, `{"action": "block", "code", "reason"?, "path"?}`, or
 * `{"action": "replace", "texts": [{"path", "text", "rule"?}]}`.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Guard, GuardContext, GuardedText, GuardVerdict } from "../../src/contracts/guard.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError, NetworkError, UpstreamError } from "../../src/errors.ts";
import { parseBoundedJson, responseBounds } from "../../src/util/bounded_json.ts";
import { readBody } from "../../src/util/bytes.ts";
import { createWebhookSigner, type WebhookSigner } from "../_webhook_signature.ts";
import { webhookGuardDeclaration } from "./declarations.ts";
import { onlyAt } from "./_stages.ts";

/** Maximum size of a verdict, bytes: it may contain every text again. */
const maxVerdictBytes = 64 * 1024 * 1024;

/** The most characters of a stream between two calls. */
const maxInterval = 1024;

/** The guard; its declaration documents the attributes. */
export const webhookGuard: Connector<"guard"> = /* @__PURE__ */ Object.assign(
  { create: createWebhookGuard },
  webhookGuardDeclaration,
);

function createWebhookGuard(
  { url, secret, stages, interval = 1000 }: Readonly<Record<string, unknown>>,
  runtime: Runtime,
): Guard {
  const signer = createWebhookSigner(
    secret,
    (message) => new ConfigError([{ path: "secret", message: `"${webhookGuardDeclaration.id}" ${message}` }]),
  );
  return onlyAt(stages, {
    reach: 1024,
    interval: Math.min(Number(interval), maxInterval),
    check: (texts, context) => askService(texts, context, { url: String(url), signer, runtime }),
  });
}

async function askService(
  texts: readonly GuardedText[],
  { stage, pool, client, requestId, signal }: GuardContext,
  { url, signer, runtime }: { readonly url: string; readonly signer: WebhookSigner; readonly runtime: Runtime },
): Promise<GuardVerdict> {
  const body = JSON.stringify({ texts, stage, pool, ...(client !== undefined && { client }), request_id: requestId });
  const headers = await signer.sign(body, requestId, runtime.clock.now());
  const response = await send({ url, method: "POST", headers, body, signal, isNonStreaming: true }, runtime);
  const bytes = await readBody(response, {
    maxBytes: maxVerdictBytes,
    tooLarge: () => new UpstreamError("The verdict is too long", { kind: "invalid_response" }),
  });
  if (response.status < 200 || response.status > 299) {
    throw new UpstreamError(`The service answered with the status ${response.status}`, { kind: "server" });
  }
  try {
    return parseBoundedJson(new TextDecoder().decode(bytes), responseBounds) as GuardVerdict;
  } catch {
    throw new UpstreamError("The service answered with invalid JSON", { kind: "invalid_response" });
  }
}

/** The messages of a runtime's network errors may contain the address, and are never shown. */
async function send(request: Parameters<Runtime["send"]>[0], { send }: Runtime): ReturnType<Runtime["send"]> {
  try {
    return await send(request);
  } catch {
    throw new NetworkError("The service cannot be reached", { neverSent: false });
  }
}
