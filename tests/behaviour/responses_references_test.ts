/** Items of the input that refer to those of stored responses. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { parseEvents } from "../support/_responses.ts";
import { type Called, memoryStage } from "../support/_stored_responses.ts";
import { respond } from "../support/upstream.ts";

const toolCalls = [{ name: "look", arguments: '{"city":"Bern"}', id: "call_1" }];
const refer = (id: string) => ({ type: "item_reference", id });
const result = { type: "function_call_output", call_id: "call_1", output: "sunny" };

describe("A reference to an item", () => {
  for (const how of [{}, { stream: true }, { background: true, stream: true }]) {
    it(`is replaced by the item, ${Object.keys(how).join(" and ") || "not streamed"}`, async () => {
      await using stage = await memoryStage([respond({ toolCalls, reasoning: "Hm" }), respond()]);
      const first = await stage.create({ input: "Where?", ...how });
      const { output } = first.json ?? parseEvents(first.text).at(-1)!.response;
      const references = output.map(({ id }: { id: string }) => refer(id));
      const input = [{ role: "user", content: "Where?" }, ...references, result];
      const { status, text } = await stage.create({ input, ...how });
      assertEquals(status, 200, text);
      const [, sent] = stage.upstream.requests.map((request) => request.json().messages);
      assertEquals(sent.map(({ role }: { role: string }) => role), ["user", "assistant", "tool"]);
      assertEquals(sent[1].tool_calls[0].function, { name: "look", arguments: '{"city":"Bern"}' });
    });
  }

  it("stays what it was when a provider returns the same id again, and is stored as the item itself", async () => {
    await using stage = await memoryStage(({ number }) => respond({ text: `answer ${number}`, id: "chatcmpl-7" }));
    const [first, second] = [await stage.create({ input: "One" }), await stage.create({ input: "Two" })];
    const [one, two] = [first, second].map(({ json }: Called) => json.output[0].id);
    assertMatch(one, /^msg_mesh_[\da-f]{43}_0$/);
    const input = [refer(one), { id: two }, { role: "user", content: "Go on" }];
    const { json: { id } } = await stage.create({ input });
    assertEquals(stage.messages(3), ["assistant answer 1", "assistant answer 2", "user Go on"]);
    await stage.call("DELETE", first.json.id);
    await stage.create({ input: "More", previous_response_id: id });
    assertEquals(stage.messages(4), [...stage.messages(3), "assistant answer 3", "user More"]);
  });

  it("to what the client does not have is an error at its place", async () => {
    const tokens = ["t-one-0123456789", "t-two-0123456789"];
    await using stage = await memoryStage(respond(), { config: { proxy: { auth: { tokens } } } });
    const [owner, other] = tokens.map((token) => stage.as(token));
    const { json: { id, output: [item] } } = await owner!.create({ input: "One" });
    const ask = [{ role: "user", content: "Go on" }];
    const check = ({ status, json }: Called, name: string) =>
      assertEquals([status, json.error.code, json.error.param], [404, "item_not_found", name]);
    check(await other!.create({ input: [...ask, refer(item.id)] }), "input[1].id");
    check(
      await owner!.create({ input: [refer(item.id.replace(/_0$/, "_7"))], previous_response_id: id }),
      "input[0].id",
    );
    await owner!.call("DELETE", id);
    check(await owner!.create({ input: [refer(item.id)], background: true }), "input[0].id");
    const { status, json } = await owner!.create({ input: [refer("msg_of_a_vendor")] });
    assertEquals([status, json.error.code], [400, "unsupported_by_pool"]);
    assertEquals(stage.upstream.calls, 1);
  });

  it("counts with its length, however often it occurs", async () => {
    const body_limit = "20KB";
    await using stage = await memoryStage(respond({ text: "x".repeat(5_000) }), { config: { proxy: { body_limit } } });
    const { json: { output: [item] } } = await stage.create({ input: "One" });
    const { status, json } = await stage.create({ input: Array(5).fill(refer(item.id)) });
    assertEquals([status, json.error.code], [413, "request_too_large"]);
    assert(json.error.param.startsWith("input["));
  });
});
