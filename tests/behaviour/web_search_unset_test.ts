/**
 * Search tools without `proxy.tools.web_search`: for models whose provider searches itself, or left out where the request
 * makes sense without them.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Json } from "../support/_dialects.ts";
import { respondWithResponse } from "../support/_responses_behaviours.ts";
import { readTurn } from "../support/_tool_loop.ts";
import { askSearching, searchClients, startSearchStage } from "../support/_web_search.ts";
import { ok, startUpstream, status } from "../support/upstream.ts";

type Name = keyof typeof searchClients;
const clients = Object.keys(searchClients) as Name[];

describe("a search tool, without proxy.tools.web_search", () => {
  const without = { settings: undefined };
  for (const client of clients) {
    const { body, other } = searchClients[client];
    it(`is left out and named where the client has other tools: ${client}`, async () => {
      await using stage = await startSearchStage({ ...without, script: ok() });
      const response = await askSearching(stage, client, { stream: false, body: body({ tools: [other] }) });
      assertEquals(response.status, 200, await response.text());
      assertMatch(response.headers.get("x-mesh-dropped-params")!, /search/i);
      assertEquals(readTurn("openai", stage.model.requests.at(-1)!).tools, ["look"]);
    });

    it(`is refused with a remedy where it is all that the client asks for: ${client}`, async () => {
      await using stage = await startSearchStage({ ...without, script: ok() });
      const response = await askSearching(stage, client, { stream: false });
      const text = await response.text();
      assertEquals([response.status, stage.model.calls], [400, 0], text);
      assertMatch(text, /proxy\.tools\.web_search/);
    });
  }

  it("goes to a model whose provider searches itself while one is active, else to another one without the tool", async () => {
    await using native = await startUpstream(respondWithResponse({ text: "Found" }));
    const others = {
      native: { connector: "openai.compatible.v1", url: native.url, model: "large", config: { responses: true } },
    };
    await using stage = await startSearchStage({ ...without, script: ok(), others, strategy: "stick-until-failure" });
    const { body, other } = searchClients.responses;
    const asked = body({ tools: [other] });
    const serve = async (sent: Json) => {
      const response = await askSearching(stage, "responses", { stream: false, body: sent });
      await response.body?.cancel();
      return [response.headers.get("x-mesh-model"), response.headers.get("x-mesh-dropped-params")];
    };
    assertEquals(await serve(asked), ["native", null]);
    assertEquals(native.requests[0]!.json().tools, asked.tools);
    assertEquals(await serve({ ...asked, tools: [other] }), ["only", null], "others stay with the pool's model");
    native.follow(status(503));
    assertEquals(await serve(asked), ["only", "tools.web_search"]);
  });

  it("is refused where the model has to call it, though there are other tools", async () => {
    await using stage = await startSearchStage({ ...without, script: ok() });
    const forced: readonly [Name, Json][] = [
      ["responses", { tool_choice: { type: "web_search" } }],
      ["messages", { tool_choice: { type: "tool", name: "web_search" } }],
    ];
    for (const [client, choice] of forced) {
      const { body, other } = searchClients[client];
      const asked = { ...body({ tools: [other] }), ...choice };
      const response = await askSearching(stage, client, { stream: false, body: asked });
      const text = await response.text();
      assertEquals(response.status, 400, text);
      assertMatch(text, /proxy\.tools\.web_search/);
    }
  });
});
