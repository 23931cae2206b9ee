/** mesh.webhook.v1: what is kept for a server that hangs, which is delivered one event after the other. */
import { assertEquals } from "@std/assert";
import { hang } from "../../support/upstream.ts";
import { accepted, event, setUp } from "../../connectors/_webhook_stage.ts";

Deno.test("the webhook sink keeps the 1 000 latest events for a server that hangs, and gives a try up after 10 s", async () => {
  const { server, sink, clock } = await setUp(hang());
  await using _ = server;
  for (let number = 0; number < 2_500; number++) sink.emit(event(String(number)));
  assertEquals(sink.lost, 1_500);
  await server.received(1);
  await clock.advance(10_000);
  assertEquals((await server.received(2)).headers["webhook-id"], "1500");
  server.follow(accepted);
  await clock.advance(10_000);
  await sink.flush();
  assertEquals(server.requests.at(-1)!.headers["webhook-id"], "2499");
});
