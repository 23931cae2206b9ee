import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { good, malformed, type MalformedRequest, token } from "../support/_malformed_http.ts";
import { onDeno } from "../support/_programs.ts";
import { testConfig } from "../support/proxy.ts";
import { sendBytes } from "../support/_surface.ts";
import { keyPair } from "../support/_tls.ts";
import { respond, startUpstream } from "../support/upstream.ts";

/** What a proxy may be reached through. */
const servers = {
  ...(onDeno ? { "Deno.serve": { listener: "deno" as const } } : {}),
  "node:http": { listener: "node" },
  "node:https": { tls: keyPair("server.pem", "server.key") },
} as const;

/** Parts that are sent by TLS, too: it has the parser of node:http, but its refusals have to arrive before it closes. */
const partsByTls: readonly string[] = ["first line", "chunks"];

/** How many requests are open at once. */
const atOnce = 8;

describe("A malformed request", () => {
  for (const [name, options] of Object.entries(servers)) {
    const column = "tls" in options || options.listener === "node" ? 0 : 1;
    const own = <Value>(value: Value | readonly [node: Value, deno: Value]): Value =>
      Array.isArray(value) ? value[column] as Value : value as Value;

    for (const [part, requests] of Object.entries(malformed)) {
      if ("tls" in options && !partsByTls.includes(part)) continue;
      it(`in its ${part} is answered by ${name} as the table says, and others go on`, async () => {
        await using upstream = await startUpstream(respond());
        const mesh = new ModelMesh();
        await mesh.initialize(testConfig({ upstreams: { a: upstream.url } }));
        const handler = createHandler(mesh, part === "token" ? { tokens: [token] } : {});
        const server = await listen(handler, { port: 0, ...options });
        const send = async ({ bytes }: Pick<MalformedRequest, "bytes">) => {
          const raw = await sendBytes(server.port, bytes, { isTls: "tls" in options });
          const code = /"code":\s*"(\w+)"/.exec(raw)?.[1] ?? "";
          return { status: raw === "" ? 0 : Number(raw.split(" ")[1]), code };
        };
        const other = part === "token" ? withToken(good) : good;
        const left = [...requests];
        const others: number[] = [];
        const work = async () => {
          for (let request = left.shift(); request !== undefined; request = left.shift()) {
            const { what, status, code } = request;
            assertEquals({ what, ...await send(request) }, { what, status: own(status), code: own(code) });
            if (left.length % atOnce === 0) others.push((await send({ bytes: other })).status);
          }
        };
        await Promise.all(Array.from({ length: atOnce }, work)).finally(async () => {
          await server.stop(0);
          await mesh.close();
        });
        const passed = requests.filter(({ status }) => own(status) === 200).length;
        assertEquals([others.length > 0, others.filter((status) => status !== 200)], [true, []]);
        assertEquals(upstream.requests.length, others.length + passed, "nothing malformed reaches a provider");
      });
    }
  }

  it("stands in the table 120 times and more", () => {
    const whats = Object.values(malformed).flat().map(({ what }) => what);
    assertEquals([whats.length >= 120, new Set(whats).size], [true, whats.length]);
  });
});

function withToken(request: string): string {
  return request.replace("\r\n\r\n", `\r\nAuthorization: Bearer ${token}\r\n\r\n`);
}
