/**
 * Every provider that misbehaves, asked by clients of other dialects: what goes unnoticed by a client of chat goes
 * unnoticed by them; what does not is an error in their own format.
 */
import { assertEquals, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { brokenResponses } from "../../support/_broken_responses.ts";
import { earlyBreaks, lateBreaks } from "../../support/_broken_streams.ts";
import { type DialectClient, dialectClients } from "../../support/_dialect_clients.ts";
import { failingStatuses, tripped } from "../../support/_failing_statuses.ts";
import { refusing, type Stage, stage } from "../../support/_failover.ts";
import { respond, respondEmpty, status, stream } from "../../support/upstream.ts";

const pool = { deactivation: { retry_limit: 1 } };
const fromB = respond({ text: "from b" });
const secrets = /Scripted|html|key-of-a|http:/;

async function ask(scene: Stage, { request }: DialectClient, isStream: boolean): Promise<Response> {
  const { path, body } = request(isStream);
  return await fetch(scene.proxy.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

for (const client of dialectClients) {
  describe(`a provider fails a client of ${client.name}, another is up`, () => {
    for (const { name, behaviour, calls = 3, state = tripped } of [...failingStatuses, ...brokenResponses]) {
      it(`${name}: the other one answers`, async () => {
        await using scene = await stage({ a: behaviour, b: fromB }, { pool });
        const response = await ask(scene, client, false);
        assertEquals([response.status, client.joinOutput(await response.json())], [200, "from b"]);
        assertEquals([scene.calls, scene.states()], [{ a: calls, b: 1 }, { a: state, b: "active" }]);
        assertEquals(response.headers.get("x-mesh-fallbacks"), "1");
      });
    }

    for (const { name, behaviour, calls = 3, state = tripped } of earlyBreaks) {
      it(`${name}: the other one's stream comes`, async () => {
        await using scene = await stage({ a: behaviour, b: fromB }, { pool });
        const response = await ask(scene, client, true);
        const { text, end } = client.readStream(await response.text());
        assertEquals([response.status, text, end], [200, "from b", "complete"]);
        assertEquals(scene.calls, behaviour === refusing ? { b: 1 } : { a: calls, b: 1 });
        assertEquals(scene.states(), { a: state, b: "active" });
      });
    }
  });

  describe(`a provider says nothing, or blames the request, before a client of ${client.name}`, () => {
    for (const isStream of [false, true]) {
      it(`an empty response goes to the other one (${isStream ? "streamed" : "whole"})`, async () => {
        await using scene = await stage({ a: respondEmpty(), b: fromB }, { pool });
        const response = await ask(scene, client, isStream);
        const text = isStream
          ? client.readStream(await response.text()).text
          : client.joinOutput(await response.json());
        assertEquals([text, scene.calls, scene.states()], ["from b", { a: 1, b: 1 }, { a: "active", b: "active" }]);
      });

      it(`an empty response of the only one comes (${isStream ? "streamed" : "whole"})`, async () => {
        await using scene = await stage({ a: respondEmpty() }, { pool });
        const response = await ask(scene, client, isStream);
        const text = isStream
          ? client.readStream(await response.text()).text
          : client.joinOutput(await response.json());
        assertEquals([response.status, text, scene.states()], [200, "", { a: "active" }]);
      });
    }

    for (const code of [400, 413, 422]) {
      it(`${code}: the other one answers; ${code} from both is the client's`, async () => {
        await using scene = await stage({ a: status(code), b: [fromB, status(code)] }, { pool });
        assertEquals(client.joinOutput(await (await ask(scene, client, false)).json()), "from b");
        const response = await ask(scene, client, true);
        assertEquals([response.status, Object.keys(client.errorOf(await response.json())).includes("message")], [
          code,
          true,
        ]);
        assertEquals([scene.calls, scene.states()], [{ a: 2, b: 2 }, { a: "active", b: "active" }]);
      });
    }
  });

  describe(`the only provider fails a client of ${client.name}`, () => {
    for (const { name, behaviour, alone } of failingStatuses) {
      it(`${name}: ${alone.status}`, async () => {
        await using scene = await stage({ a: behaviour }, { pool });
        const response = await ask(scene, client, false);
        const { type, message } = client.errorOf(await response.json());
        const status = client.name === "messages" && alone.code === "overloaded" ? 529 : alone.status;
        assertEquals([response.status, type], [status, client.typeOf(alone)]);
        assertNotMatch(message, secrets);
      });
    }

    for (const { name, breaks, pieces = 2 } of lateBreaks) {
      it(`${name}: what was sent stays, then comes one error`, async () => {
        const options = { pieces: ["one", " two"] };
        await using scene = await stage({ a: stream({ ...options, ...breaks }), b: fromB }, { pool });
        const all = await (await ask(scene, client, true)).text();
        const { text, end } = client.readStream(all);
        assertEquals([text, end], [options.pieces.slice(0, pieces).join(""), "error"]);
        assertNotMatch(all, /http:|key-of/);
        assertEquals([scene.calls, scene.states()], [{ a: 1, b: 0 }, { a: tripped, b: "active" }]);
      });
    }
  });
}
