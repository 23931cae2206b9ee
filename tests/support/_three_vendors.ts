/**
 * A conversation with a tool loop over providers of three dialects, continued by `previous_response_id`, with other work
 * between its turns, such as a restart of the proxy.
 * @module
 */
import { assertEquals } from "@std/assert";
import { dialectConfig } from "./_dialect_proxy.ts";
import { type Json, speaking } from "./_dialects.ts";
import type { ResponsesCaller } from "./_stored_responses.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

/** The providers, by the names of their models. */
export interface ThreeVendors extends AsyncDisposable {
  readonly upstreams: Readonly<Record<"open" | "claude" | "gemini", Upstream>>;
  /** The configuration of a proxy that stores responses. */
  config(storage: Json, proxy?: Json): Json;
}

const call = (id: string, name: string, state?: string) => ({
  calls: [{ id, name, input: { city: "Paris" }, ...(state === undefined ? {} : { state }) }],
});

/** Starts the providers: each calls another tool in its first response, and has text in its second one. */
export async function startThreeVendors(): Promise<ThreeVendors> {
  const { openai, anthropic, gemini } = speaking;
  const text = { pieces: ["Take", " a coat"] };
  const open = await startUpstream([openai.respond(call("call_open", "find_weather")), openai.respond(text)]);
  const claude = await startUpstream([
    anthropic.respond({ ...call("toolu_claude", "find_time", "sig-of-claude"), thoughts: "Hm" }),
    anthropic.respond(text),
  ]);
  const google = await startUpstream([
    gemini.respond(call("fc_gemini", "find_price", "c2lnLW9mLWdlbWluaQ==")),
    gemini.respond(text),
  ]);
  return {
    upstreams: { open, claude, gemini: google },
    config: (storage, proxy) => ({
      ...dialectConfig({
        open: { dialect: "openai", url: open.url },
        claude: { dialect: "anthropic", url: claude.url },
        gemini: { dialect: "gemini", url: google.url.replace("/v1", "/v1beta") },
      }),
      storage,
      proxy: { ...proxy, responses: { state: true } },
    }),
    async [Symbol.asyncDispose]() {
      await Promise.all([open, claude, google].map((upstream) => upstream.close()));
    },
  };
}

const tools = ["find_weather", "find_time", "find_price"].map((name) => ({
  type: "function",
  name,
  parameters: { type: "object", properties: { city: { type: "string" } } },
}));

/**
 * Holds the conversation, and checks what each provider has received of it.
 *
 * @param next Returns the caller of the next turn.
 */
export async function converse({ upstreams }: ThreeVendors, next: () => Promise<ResponsesCaller>): Promise<void> {
  let previous: string | undefined;
  let calls: { call_id: string; name: string }[] = [];
  const turn = async (model: string) => {
    const caller = await next();
    const input = previous === undefined
      ? "What do I need in Paris?"
      : calls.map(({ call_id, name }) => ({ type: "function_call_output", call_id, output: `result of ${name}` }));
    const { status, text, json } = await caller.create({ model, tools, input, previous_response_id: previous });
    assertEquals(status, 200, text);
    previous = json.id;
    calls = json.output.filter(({ type }: { type: string }) => type === "function_call");
    return json;
  };
  for (const model of ["open", "claude", "gemini"]) {
    await turn(model);
    assertEquals(calls.length, 1, model);
  }
  const { output } = await turn("claude");
  assertEquals(output.at(-1).content[0].text, "Take a coat");
  const last = upstreams.claude.requests.at(-1)!.body;
  const { messages } = JSON.parse(last);
  const blocks: { type: string; name?: string; content?: unknown; signature?: string }[] = messages.flatMap(
    ({ content }: { content: unknown }) => Array.isArray(content) ? content : [],
  );
  assertEquals(blocks.flatMap(({ type, name }) => type === "tool_use" ? [name] : []), tools.map(({ name }) => name));
  assertEquals(blocks.filter(({ type }) => type === "tool_result").length, 3);
  assertEquals(blocks.flatMap(({ type, signature }) => type === "thinking" ? [signature] : []), ["sig-of-claude"]);
  assertEquals(last.includes("sig-of-gemini"), false);
  const { body: toGemini } = upstreams.gemini.requests[0]!;
  for (const name of ["find_weather", "find_time"]) assertEquals(toGemini.includes(`result of ${name}`), true, name);
  assertEquals(toGemini.includes("sig-of-claude"), false);
}
