/** mesh.webhook.v1: deliveries in the form of Standard Webhooks, retried, bounded. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { Webhook } from "../support/standard_webhooks.ts";
import { webhookObservability } from "../../connectors/observability/webhook.ts";
import type { RoutingRecord } from "../../src/contracts/events.ts";
import { ConfigError } from "../../src/errors.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { status } from "../support/upstream.ts";
import { accepted, event, setUp } from "./_webhook_stage.ts";

const secret = `whsec_${btoa("a signing key of 24 bytes")}`;

Deno.test("the webhook sink posts one event per delivery, signed so that an independent verifier accepts it", async () => {
  const { server, sink } = await setUp(accepted, { secret });
  await using _ = server;
  sink.emit(event("e1"));
  sink.emit({ type: "routing" } as RoutingRecord);
  sink.trace({ type: "trace", timestamp: "t", severity: "error", component: "c", message: "m" });
  sink.emit(event("e2"));
  await sink.flush();
  assertEquals(server.requests.map(({ headers }) => headers["webhook-id"]), ["e1", "e2"]);
  for (const { method, body, headers } of server.requests) {
    assertEquals(method, "POST");
    const verified = new Webhook(secret).verify(body, headers as Record<string, string>);
    assertEquals(verified, event(headers["webhook-id"]!));
  }
  assertEquals(sink.lost, 0);
});

Deno.test("the webhook sink takes a secret that is not base64 as it is, and sends no signature without one", async () => {
  const { server, sink } = await setUp(accepted, { secret: "any words" });
  await using _ = server;
  sink.emit(event("e1"));
  await sink.flush();
  const { body, headers } = server.requests[0]!;
  new Webhook("any words", { format: "raw" }).verify(body, headers as Record<string, string>);
  const plain = await setUp(accepted);
  plain.sink.emit(event("e2"));
  await plain.sink.flush();
  assertEquals(plain.server.requests[0]!.headers["webhook-signature"], undefined);
  await plain.server.close();
});

Deno.test("the webhook sink retries three times with growing waits and the same id, then counts a loss and goes on", async () => {
  const { server, sink, clock } = await setUp([status(500), status(429), status(404), status(503), accepted]);
  await using _ = server;
  sink.emit(event("e1"));
  sink.emit(event("e2"));
  await sink.flush();
  assertEquals(server.requests.map(({ headers }) => headers["webhook-id"]), ["e1", "e1", "e1", "e1", "e2"]);
  assertEquals(clock.waits, [1_000, 4_000, 16_000]);
  assertEquals(sink.lost, 1);
});

Deno.test("the webhook sink refuses a secret that it cannot sign with, without showing it", () => {
  for (const secret of ["whsec_not*base64", "whsec_", "", 7]) {
    const error = assertThrows(() => webhookObservability.create({ url: "https://a.example", secret }, denoRuntime()));
    assert(error instanceof ConfigError, String(secret));
    assert(!error.message.includes("not*base64"));
  }
});

Deno.test("the webhook sink refuses a URL that is none, without showing it", () => {
  for (const url of [undefined, "ftp://x", "hooks.example.com/secret-path", 7]) {
    const error = assertThrows(() => webhookObservability.create({ url }, denoRuntime()), ConfigError);
    assertMatch(error.message, /http or https URL/);
    assert(!error.message.includes("secret-path"));
  }
});
