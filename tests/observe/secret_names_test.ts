import { assertEquals } from "@std/assert";
import { create } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";

const session = "session/of+an==hour-0123456789";
const secretKey = "aws/secret+key-0123456789";

const models = { a: { provider: "bedrock", capabilities: ["chat-completion"] } };
const pools = { chat: { capability: "chat-completion" } };

/** A provider that refuses every request. */
const fetch = () => Promise.resolve(new Response("{}", { status: 400 }));

async function redacted(text: string, { config = {}, env = {} }: { config?: object; env?: Record<string, string> }) {
  const providers = {
    bedrock: {
      connector: "aws.bedrock.v1",
      base_url: "http://127.0.0.1:9",
      config: { region: "eu-west-1", ...config },
    },
  };
  // deno-lint-ignore no-explicit-any -- what a connector takes beside the schema
  const client = create("chat-completion", { config: { providers, models, pools } as any, env, fetch });
  await client.ready();
  await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] }).catch(() => {});
  await client.close();
  return getEngine(client.mesh).redact(text);
}

Deno.test("keys and the token of a session that a connector reads from the environment are redacted", async () => {
  const env = { AWS_ACCESS_KEY_ID: "AKIA0123456789", AWS_SECRET_ACCESS_KEY: secretKey, AWS_SESSION_TOKEN: session };
  assertEquals(await redacted(`x ${session} y ${secretKey}`, { env }), "x [redacted] y [redacted]");
  assertEquals(await redacted(`x ${session}`, {}), `x ${session}`);
});

Deno.test("keys and the token of a session that settings have are redacted", async () => {
  const config = { access_key_id: "AKIA0123456789", secret_access_key: secretKey, session_token: session };
  assertEquals(
    await redacted(`x ${session} y ${secretKey} ${encodeURIComponent(session)}`, { config }),
    "x [redacted] y [redacted] [redacted]",
  );
});
