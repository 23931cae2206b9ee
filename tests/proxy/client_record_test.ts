/** The stored record of clients: what is accepted of it, since a guess might grant access. */
import { assertEquals, assertThrows } from "@std/assert";
import { ConnectorError } from "../../src/errors.ts";
import { readDocument, toClientSettings } from "../../src/proxy/clients/client_record.ts";

const stored = { id: "client_1", name: "app", created_at: "2026-01-01T00:00:00.000Z", token_sha256: "00" };

function read(facts: Readonly<Record<string, unknown>>) {
  const text = JSON.stringify({ version: 1, clients: [{ ...stored, ...facts }], revoked: [] });
  return toClientSettings(readDocument(text).clients[0]!);
}

Deno.test("A record of clients with a list of limits is read with its windows", () => {
  const { budget } = read({ budget: [{ limit: 1, window: "1w", timezone: "Europe/Berlin" }] });
  assertEquals(budget?.map(({ id }) => id), ["1w europe/berlin"]);
});

Deno.test("A record of clients with windows, time zones or tokens that this release does not know is not guessed at", () => {
  for (
    const facts of [
      { budget: [{ limit: 1, window: "1y" }] },
      { budget: [{ limit: 1, window: "1d", timezone: "Europe/Atlantis" }] },
      { budget: [{ window: "1d" }] },
      { previous_token: { token_sha256: "00" } },
      { previous_token: { token_sha256: "00", ends_at: "soon" } },
      { models: "a" },
    ]
  ) {
    assertThrows(() => read(facts), ConnectorError, undefined, JSON.stringify(facts));
  }
});
