/** `/v1/responses` as a WebSocket of a proxy that stores responses. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openSocket } from "../support/_web_socket.ts";
import { memoryStage } from "../support/_stored_responses.ts";
import { type ReceivedRequest, respond } from "../support/upstream.ts";

const numbered = ({ number }: ReceivedRequest) => respond({ text: `answer ${number}`, pieces: [`answer ${number}`] });

describe("A WebSocket of a proxy that stores responses", () => {
  it("continues responses of other connections and of POST, and the other way round", async () => {
    await using stage = await memoryStage(numbered);
    const { json: first } = await stage.create({ input: "One" });
    using client = await openSocket(stage.proxy.url);
    client.ask({ input: "Two", previous_response_id: first.id });
    const { response: second } = await client.last();
    assertEquals([second.previous_response_id, second.store], [first.id, true]);
    using other = await openSocket(stage.proxy.url);
    other.ask({ input: "Three", previous_response_id: second.id });
    const { response: third } = await other.last();
    assertEquals((await stage.create({ input: "Four", previous_response_id: third.id })).status, 200);
    assertEquals(stage.messages(4), [
      ...[
        "user One",
        "assistant answer 1",
        "user Two",
        "assistant answer 2",
        "user Three",
        "assistant answer 3",
        "user Four",
      ],
    ]);
    const { json: { data } } = await stage.call("GET", `${third.id}/input_items`);
    assertEquals(data.length, 5);
  });

  it("continues unstored responses of the connection alone, which may continue stored ones", async () => {
    await using stage = await memoryStage(numbered);
    const { json: first } = await stage.create({ input: "One" });
    using client = await openSocket(stage.proxy.url);
    client.ask({ input: "Two", previous_response_id: first.id, store: false });
    const { response: second } = await client.last();
    assertEquals((await stage.call("GET", second.id)).status, 404);
    client.ask({ input: "Three", previous_response_id: second.id, store: false });
    const { response: third } = await client.last();
    client.ask({ input: "Four", previous_response_id: third.id });
    const { response: fourth } = await client.last();
    const all = [
      "user One",
      "assistant answer 1",
      "user Two",
      "assistant answer 2",
      "user Three",
      "assistant answer 3",
    ];
    assertEquals(stage.messages(4), [...all, "user Four"]);
    const { status } = await stage.create({ input: "Five", previous_response_id: fourth.id });
    assertEquals([status, stage.messages(5)], [200, [...all, "user Four", "assistant answer 4", "user Five"]]);
    using other = await openSocket(stage.proxy.url);
    other.ask({ input: "Other", previous_response_id: third.id });
    const { status: refused, error } = await other.last();
    assertEquals([refused, error.code, error.param], [404, "previous_response_not_found", "previous_response_id"]);
  });

  it("continues a warm-up", async () => {
    await using stage = await memoryStage(numbered);
    using client = await openSocket(stage.proxy.url);
    client.ask({ generate: false, input: [{ type: "message", role: "developer", content: "Be kind" }] });
    const { response: { id } } = await client.last();
    client.ask({ previous_response_id: id, input: "One" });
    await client.last();
    assertEquals(stage.messages(1), ["system Be kind", "user One"]);
    assertEquals((await stage.call("GET", id)).json.output, []);
  });
});
