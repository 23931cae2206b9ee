import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startTestProxy } from "../support/proxy.ts";
import { assertRefused, goodBody, refusing } from "../support/_surface.ts";
import { respond, startUpstream } from "../support/upstream.ts";

const good = JSON.stringify(goodBody);
/** The good body with members before and after its own, as they are written. */
const after = (members: string) => `${good.slice(0, -1)},${members}}`;
const before = (members: string) => `{${members},${good.slice(1)}`;

/** A body, and the member it is refused for. */
type Row = readonly [body: string, param: string];

const otherCase: readonly Row[] = [
  [after('"Model":"b"'), "Model"],
  [before('"MODEL":"b"'), "MODEL"],
  [before('"\\u004dodel":"b"'), "Model"],
  [after('"mode\\u004c":"b"'), "modeL"],
  ['{"Model":"chat","messages":[{"role":"user","content":"Hi"}]}', "Model"],
  ['{"model":"chat","Messages":[{"role":"user","content":"Hi"}]}', "Messages"],
  [after('"MAX_TOKENS":5'), "MAX_TOKENS"],
  [after('"Stream":true'), "Stream"],
  // simple case folding beyond ASCII: ſ is an s, K (the sign of kelvin) a k
  [after('"me\u017f\u017fages":[]'), "me\u017f\u017fages"],
  [after('"\\u017ftream":true'), "\u017ftream"],
  [after('"max_to\u212aens":5'), "max_to\u212aens"],
  [after('"max_to\\u212Aens":null'), "max_to\u212aens"],
  [after('"Models":["b"]'), "Models"],
  [after('"Mesh":{"only":["a"]}'), "Mesh"],
  [after('"API_Key":"k"'), "API_Key"],
  [after('"mesh":{"Only":["a"]}'), "mesh.Only"],
  [after('"mesh":{"\u017fession":"x"}'), "mesh.\u017fession"],
];

const repeated: readonly Row[] = [
  [after('"model":"b"'), "model"],
  [before('"model":"b"'), "model"],
  [after('"mo\\u0064el":"b"'), "model"],
  [before('"m\\u006fd\\u0065l" : "chat"'), "model"],
  [after('"stream":false,"user":"\\"stream\\":","stream":true'), "stream"],
  [after('"x_unknown":1,"x_unknown":1'), "x_unknown"],
  [after('"":1,"":2'), ""],
  [after('"__proto__":1,"__proto__":{}'), "__proto__"],
  [after(`"${"x".repeat(100)}":1,"${"x".repeat(100)}":2`), `${"x".repeat(64)}…`],
  [after('"mesh":{"only":["a"],"only":["b"]}'), "mesh.only"],
  [after('"mesh": { "\\u006fnly":["a"],"only":["a"] }'), "mesh.only"],
  [after('"mesh":{"only":["a"]},"mesh":null'), "mesh"],
];

/** Members that concern the provider only. */
const passed: readonly string[] = [
  after('"metadata":{"Model":"a","model":"b","model":"c"}'),
  after('"tools":[{"type":"function","function":{"name":"f","parameters":{"Model":{},"model":{},"model":{}}}}]'),
  '{"messages":[{"role":"user","Role":"x","content":"Hi","content":"Ho","model":1,"model":2}],"model":"chat"}',
  after('"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"MODEL":1,"MODEL":2}}}'),
  after('"mesh":{"tags":{"model":"x","Model":"y"}},"x_Unknown":1,"X_unknown":2,"modell":3,"m\u00f6del":4'),
  after('"max_tokens":5,"max_completion_tokens":5,"user":"\\"model\\":\\"b\\",\\\\"'),
];

describe("A member of a body", () => {
  it("that differs from a known one in case alone is a 400 that names it, whatever a reader in Go would make of it", async () => {
    await refusing(async (proxy) => {
      for (const [body, param] of otherCase) {
        await assertRefused(await proxy.chat({}, { body }), { status: 400, code: "invalid_value", param }, body);
      }
      const { message } = await assertRefused(await proxy.chat({ Model: "b" }), {
        status: 400,
        code: "invalid_value",
        param: "Model",
      });
      assertStringIncludes(message, '"model"');
    });
  });

  it("that is repeated is a 400 that names it, since it is unknown which of both a provider reads", async () => {
    await refusing(async (proxy) => {
      for (const [body, param] of repeated) {
        await assertRefused(await proxy.chat({}, { body }), { status: 400, code: "invalid_value", param }, body);
      }
    });
  });

  it("of messages, tools, metadata or schemas goes upstream as it came, and so does an unknown one", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    for (const body of passed) {
      const response = await proxy.chat({}, { body });
      assertEquals(response.status, 200, `${body}: ${await response.text()}`);
      const sent = upstream.requests.at(-1)!.body;
      assertEquals(sent, body.replace('"model":"chat"', '"model":"a"').replace(/"mesh":\{.*?\}\},/, ""));
    }
  });
});
