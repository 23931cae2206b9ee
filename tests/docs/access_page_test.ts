/** The table of docs/security.md about what a token reaches is what a proxy does. */
import { assert, assertEquals } from "@std/assert";
import { fakeClock } from "../../src/runtime/test.ts";
import { memoryStorage, stateIn } from "../../mod.ts";
import { startIssuer } from "../support/_issuer.ts";
import { startTestProxy } from "../support/proxy.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const page = await Deno.readTextFile(new URL("../../docs/security.md", import.meta.url));
const [, heading = "", body = ""] = /^\| Request (\|.*)\n\|.*\n((?:\|.*\n)+)/m.exec(page) ?? [];
const roles = splitCells(heading);
const rows = body.trim().split("\n").map(splitCells);

function splitCells(line: string): string[] {
  return line.split("|").map((cell) => cell.trim()).filter((cell) => cell !== "");
}

const client = "token-of-a-client-0123456789";
const administrator = "token-of-an-administrator-0123456789";

/** Bodies of requests, by path. */
const bodies: Readonly<Record<string, unknown>> = {
  "/v1/chat/completions": { model: "chat", messages: [{ role: "user", content: "x" }] },
  "/v1/messages": { model: "chat", max_tokens: 9, messages: [{ role: "user", content: "x" }] },
  "/v1/embeddings": { model: "chat", input: "x" },
  "/mesh/clients": { name: "other" },
  "/mesh/deactivate": { model: "a" },
  "/mesh/activate": { model: "a" },
};

Deno.test("what a token reaches is in the table of docs/security.md", async (test) => {
  assertEquals(roles, ["no token", "client", "viewer", "administrator"]);
  assert(rows.length > 5);
  await using upstream = await startUpstream(ok());
  await using issuer = await startIssuer();
  const auth = {
    admin_tokens: [administrator],
    tokens: [{ token: client, name: "app", rpm: 1000 }],
    jwt: [{ issuer: issuer.url, audience: "mesh", role: "role" }],
  };
  await using proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    config: { proxy: { auth }, teams: { red: { rpm: 9 } } },
    clock: fakeClock(),
    storage: stateIn(memoryStorage()),
  });
  const tokens = [undefined, client, await issuer.token({ role: "viewer" }), administrator];
  const request = async (call: string, token: string | undefined) => {
    const [method = "", path = ""] = call.split(" ");
    const response = await fetch(`${proxy.url}${path}`, {
      method,
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      ...(method === "POST" && { body: JSON.stringify(bodies[path]) }),
    });
    const text = await response.text();
    return { status: response.status, text };
  };
  for (const [calls = "", ...cells] of rows) {
    for (const call of calls.split(", ").map((name) => name.replaceAll("`", ""))) {
      await test.step(call, async () => {
        for (const [index, cell] of cells.entries()) {
          const { status, text } = await request(call, tokens[index]);
          const found = [401, 403].includes(status) ? String(status) : "yes";
          assertEquals(found, cell.replace("its own", "yes"), `${roles[index]}: ${status} ${text}`);
        }
      });
    }
  }
});
