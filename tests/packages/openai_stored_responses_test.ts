/** The official client's stored and background responses, at a proxy that stores them. */
import OpenAI from "openai";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createSdk } from "../support/_dialect_proxy.ts";
import { memoryStage } from "../support/_stored_responses.ts";
import { Gate, hang, type ReceivedRequest, respond, stream } from "../support/upstream.ts";

const numbered = ({ number }: ReceivedRequest) =>
  respond({ text: `answer ${number}`, pieces: ["answer ", `${number}`] });
const ask = { model: "chat", input: "Hi" };

describe("OpenAI's client of a proxy that stores responses", () => {
  it("continues, retrieves, lists and deletes", async () => {
    await using stage = await memoryStage(numbered);
    const client = createSdk(stage.proxy);
    const first = await client.responses.create(ask);
    const second = await client.responses.create({ ...ask, previous_response_id: first.id });
    assertEquals([second.output_text, second.previous_response_id], ["answer 2", first.id]);
    const retrieved = await client.responses.retrieve(second.id, { include: ["reasoning.encrypted_content"] });
    assertEquals(retrieved.output_text, "answer 2");
    const items = await Array.fromAsync(client.responses.inputItems.list(second.id, { limit: 2, order: "asc" }));
    assertEquals(items.map((item) => item.type === "message" && item.role), ["user", "assistant", "user"]);
    await client.responses.delete(first.id);
    await assertRejects(() => client.responses.retrieve(first.id), OpenAI.NotFoundError, "not found");
    await assertRejects(
      () => client.responses.create({ ...ask, previous_response_id: first.id }),
      OpenAI.NotFoundError,
      first.id,
    );
  });

  it("polls a background response", async () => {
    await using stage = await memoryStage(numbered);
    const client = createSdk(stage.proxy);
    let response = await client.responses.create({ ...ask, background: true });
    assertEquals(response.status, "queued");
    while (response.status === "queued" || response.status === "in_progress") {
      await new Promise((resolve) => setTimeout(resolve, 5));
      response = await client.responses.retrieve(response.id);
    }
    assertEquals([response.status, response.output_text], ["completed", "answer 1"]);
  });

  it("cancels a background response", async () => {
    await using stage = await memoryStage(hang());
    const client = createSdk(stage.proxy);
    const { id } = await client.responses.create({ ...ask, background: true });
    const { closed } = await stage.upstream.received(1);
    assertEquals((await client.responses.cancel(id)).status, "cancelled");
    await closed;
    await assertRejects(() => client.responses.cancel("resp_1"), OpenAI.NotFoundError);
  });

  it("resumes the stream of a background response", async () => {
    const gate = new Gate();
    await using stage = await memoryStage(stream({ pieces: ["one ", "two ", "three"], gate }));
    const client = createSdk(stage.proxy);
    gate.open(3);
    let id = "";
    let last = -1;
    const events = await client.responses.create({ ...ask, background: true, stream: true });
    for await (const event of events) {
      if (event.type === "response.created") ({ response: { id } } = event);
      last = event.sequence_number;
      if (event.type === "response.output_text.delta") break; // closes the connection
    }
    gate.openAll();
    let text = "";
    for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: last })) {
      assertEquals(event.sequence_number, ++last);
      if (event.type === "response.completed") text = event.response.output[0]!.type;
    }
    assertEquals(text, "message");
    const all = await client.responses.retrieve(id);
    assertEquals(all.output_text, "one two three");
    const stream_ = client.responses.stream({ response_id: id, starting_after: 0 });
    assertEquals((await stream_.finalResponse()).output_text, "one two three");
    assert(last > 5);
  });
});
