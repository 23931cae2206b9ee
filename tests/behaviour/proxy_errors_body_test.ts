import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { assertRefused, checkRefused, goodBody, type Refused, refusing, sendRaw } from "../support/_surface.ts";
import { assertEffort } from "../support/effort.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";

type Body = string | Uint8Array<ArrayBuffer>;

/** A body, and what is wrong with it. */
type BodyRow = readonly [what: string, body: Body, code: string, param?: string];

const encoder = new TextEncoder();
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(parts.flatMap((part) => typeof part === "string" ? [...encoder.encode(part)] : part));
const withFields = (fields: Readonly<Record<string, unknown>>) => JSON.stringify({ ...goodBody, ...fields });
const without = (name: string) => withFields({ [name]: undefined });
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const unparsable = "invalid_json";
const invalid = "invalid_value";
const missing = "missing_required_parameter";

const malformed: readonly BodyRow[] = [
  ["an empty body", "", unparsable],
  ["blanks", " \r\n\t", unparsable],
  ["a lone bracket", "{", unparsable],
  ["a trailing comma", '{"model":"chat",}', unparsable],
  ["a number that JSON does not have", '{"model":"chat","temperature":NaN}', unparsable],
  ["two documents", JSON.stringify(goodBody).repeat(2), unparsable],
  ["a comment", `${JSON.stringify(goodBody)} // good`, unparsable],
  ["single quotes", "{'model':'chat'}", unparsable],
  ["a body cut off", JSON.stringify(goodBody).slice(0, -1), unparsable],
  ["two byte order marks", `\ufeff\ufeff${JSON.stringify(goodBody)}`, unparsable],
  ["invalid UTF-8", bytes('{"model":"', [0xff], '"}'), unparsable],
  ["a character cut in two", bytes('{"model":"', [0xf0, 0x9f], '"}'), unparsable],
  ["UTF-16", bytes([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]), unparsable],
  ["null", "null", invalid],
  ["a list", "[]", invalid],
  ["a string", '"x"', invalid],
  ["a number", "7", invalid],
  ["65 levels", withFields({ metadata: JSON.parse(nested(64)) }), invalid],
  ["100 000 levels", `{"model":"chat","messages":${nested(99_999)}}`, invalid],
];

const wrongFields: readonly BodyRow[] = [
  ["no model", without("model"), missing, "model"],
  ...["", " ", 7, null, {}, [], true, "m".repeat(257)].map((model): BodyRow => [
    `the model ${JSON.stringify(model).slice(0, 20)}`,
    withFields({ model }),
    invalid,
    "model",
  ]),
  ["no messages", without("messages"), missing, "messages"],
  ...[[], "Hi", {}, null, 1].map((messages): BodyRow => [
    `the messages ${JSON.stringify(messages)}`,
    withFields({ messages }),
    invalid,
    "messages",
  ]),
  ...[[null], ["Hi"], [[]], [7]].map((messages): BodyRow => [
    `the messages ${JSON.stringify(messages)}`,
    withFields({ messages }),
    invalid,
    "messages[0]",
  ]),
  ["no role", withFields({ messages: [{ role: "user" }, { content: "Hi" }] }), missing, "messages[1].role"],
  ["the role 5", withFields({ messages: [{ role: 5 }] }), invalid, "messages[0].role"],
  ["the content 5", withFields({ messages: [{ role: "user", content: 5 }] }), invalid, "messages[0].content"],
  ["a part 5", withFields({ messages: [{ role: "user", content: [5] }] }), invalid, "messages[0].content[0]"],
  ...["true", 1, {}, []].map((stream): BodyRow => [
    `stream ${JSON.stringify(stream)}`,
    withFields({ stream }),
    invalid,
    "stream",
  ]),
  ["tools that are no list", withFields({ tools: {} }), invalid, "tools"],
  ["stream options that are no object", withFields({ stream_options: [] }), invalid, "stream_options"],
  ["a limit that is no number", withFields({ max_tokens: "5" }), invalid, "max_tokens"],
  ["a number beyond all numbers", `{"temperature":1e400,${without("x").slice(1)}`, invalid, "temperature"],
];

const unknownModels = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "cha",
  "chat ",
  "CHAT",
  "chat\nx",
  "../chat",
  "m".repeat(256),
];

const refusedTypes = [
  "text/plain",
  "text/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/jsonp",
  "application/json; charset=latin1",
  'application/json; charset="utf-16"',
  "",
];

const acceptedTypes = [
  undefined,
  "application/json",
  "Application/JSON; charset=UTF-8",
  'application/json;charset="utf-8"',
  "application/vnd.client+json",
];

function post(proxy: TestProxy, body: Body, headers: Record<string, string> = {}): Promise<Response> {
  return proxy.chat({}, { body, headers: { "content-type": "application/json", ...headers } });
}

/** A POST as it goes over the wire. */
function chatText(headers: readonly string[], body: string): string {
  const lines = ["POST /v1/chat/completions HTTP/1.1", "Host: localhost", "Connection: close", ...headers];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

describe("A body the proxy cannot use", () => {
  it("is refused with 400, and no provider hears of it", async () => {
    await refusing(async (proxy) => {
      for (const [what, body, code, param] of [...malformed, ...wrongFields]) {
        const refused: Refused = { status: 400, code, param: param ?? null, headers: { "retry-after": null } };
        await assertRefused(await post(proxy, body), refused, what);
      }
    });
  });

  it("is refused quickly when it has containers by the hundred thousand", async () => {
    const body = `{"model":"chat","messages":[${"[],".repeat(400_000)}[]]}`;
    await refusing(async (proxy) => {
      const refuse = async () => {
        const { message } = await assertRefused(await post(proxy, body), { status: 400, code: invalid });
        assertStringIncludes(message, "200000");
      };
      await assertEffort("its refusal", { work: refuse, than: () => JSON.parse(body), most: 8 });
    });
  });

  it("is 404 with the parameter when no model goes by that name, whatever prototypes know", async () => {
    await refusing(async (proxy) => {
      for (const model of unknownModels) {
        const body = `{"model":${JSON.stringify(model)},${without("model").slice(1)}`;
        await assertRefused(
          await post(proxy, body),
          { status: 404, code: "model_not_found", param: "model" },
          JSON.stringify(model),
        );
      }
      const { message } = await assertRefused(
        await post(proxy, withFields({ model: "caht" })),
        { status: 404, code: "model_not_found", param: "model" },
      );
      assertStringIncludes(message, '"chat"', "the nearest name helps");
    });
  });

  it("is 415 when its headers say it is not plain JSON in UTF-8", async () => {
    await refusing(async (proxy) => {
      const refused: Refused = { status: 415, code: "unsupported_media_type" };
      for (const type of refusedTypes) {
        const headers = [`Content-Type: ${type}`, "Content-Length: 2"];
        checkRefused(await sendRaw(proxy.url, chatText(headers, "{}")), refused, type);
      }
      for (const encoding of ["compress", "identity, gzip"]) {
        await assertRefused(await post(proxy, without("x"), { "content-encoding": encoding }), refused, encoding);
      }
    });
  });

  it("is 413 over proxy.body_limit, declared or in chunks, and no more than that is read", async () => {
    const refused: Refused = { status: 413, code: "request_too_large" };
    const config = { proxy: { body_limit: "1000B" } };
    await refusing(async (proxy) => {
      const tooLong = withFields({ user: "u".repeat(1001) });
      await assertRefused(await post(proxy, tooLong), refused, "declared");
      const declared = chatText(["Content-Length: 1001"], "");
      checkRefused(await sendRaw(proxy.url, declared), refused, "declared, and never sent");
      const endless = chatText(["Transfer-Encoding: chunked"], `3e9\r\n${"x".repeat(1001)}\r\n`);
      checkRefused(await sendRaw(proxy.url, endless), refused, "in chunks that never end");
      const limit = withFields({ user: "u".repeat(1000 - withFields({ user: "" }).length) });
      assertEquals(limit.length, 1000);
      const chunked = chatText(["Transfer-Encoding: chunked"], `3e8\r\n${limit.replace("chat", "none")}\r\n0\r\n\r\n`);
      const atLimit = await sendRaw(proxy.url, chunked);
      checkRefused(atLimit, { status: 404, code: "model_not_found", param: "model" }, "as long as allowed");
    }, { config });
  });
});

describe("A body that looks odd", () => {
  it("is served: a byte order mark, 64 levels, null for false, any JSON content type", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    const bodies = [
      `\ufeff${JSON.stringify(goodBody)}`,
      withFields({ metadata: JSON.parse(nested(63)) }),
      withFields({ stream: null, tools: null, max_tokens: null }),
      withFields({ messages: [{ role: "user", content: null }, { role: "new-role" }] }),
    ];
    for (const body of bodies) {
      assertEquals((await (await post(proxy, body)).json()).object, "chat.completion", body.slice(0, 60));
    }
    for (const type of acceptedTypes) {
      const headers = [...type === undefined ? [] : [`Content-Type: ${type}`], "Content-Encoding: identity"];
      const body = JSON.stringify(goodBody);
      const { status } = await sendRaw(proxy.url, chatText([...headers, `Content-Length: ${body.length}`], body));
      assertEquals(status, 200, type);
    }
    assertEquals(upstream.calls, bodies.length + acceptedTypes.length);
    assert(upstream.requests.every(({ body }) => body.startsWith("{")), "no byte order mark goes on");
  });
});
