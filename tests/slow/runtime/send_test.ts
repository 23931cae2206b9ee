import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { NetworkError } from "../../../src/errors.ts";
import { ok, startUpstream } from "../../support/upstream.ts";
import { denoNetwork } from "../../../src/runtime/_deno_send.ts";
import { send } from "../../../src/runtime/_node_send.ts";
import { sendByConnection, sendByFetch } from "../../../src/runtime/_deno_send.ts";
import { http1Client } from "../../../src/runtime/http1/client.ts";
import type { UpstreamRequest } from "../../../src/contracts/runtime.ts";
import { describeSend } from "../../runtime/_send.ts";
import { describeTlsCauses } from "../../runtime/_tls_causes.ts";
import { raise } from "../../support/raise.ts";

const fixture = (name: string) => Deno.readTextFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url));
const authority = fixture("ca.pem");

/** Ways with TLS to servers without, each as abrupt in its end as its server, by the server's host and port. */
class SecureWays {
  readonly #listeners = new Map<string, Deno.TlsListener>();

  /** The same URL by way of TLS. */
  to(url: URL): URL {
    let listener = this.#listeners.get(url.host);
    if (listener === undefined) {
      const options = { key: fixture("server.key"), cert: fixture("server.pem") };
      listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...options });
      this.#listeners.set(url.host, listener);
      this.#accept(listener, { hostname: url.hostname, port: Number(url.port) }).catch(raise);
    }
    return new URL(`https://localhost:${listener.addr.port}${url.pathname}${url.search}`);
  }

  close(): void {
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
  }

  async #accept(listener: Deno.TlsListener, server: { hostname: string; port: number }): Promise<void> {
    try {
      for (;;) join(await listener.accept(), await Deno.connect(server));
    } catch {
      // the listener has been closed
    }
  }
}

function join(one: Deno.Conn, other: Deno.Conn): void {
  const end = () => {
    for (const connection of [one, other]) {
      try {
        connection.close();
      } catch {
        // it is closed already
      }
    }
  };
  one.readable.pipeTo(other.writable).then(end, end);
  other.readable.pipeTo(one.writable).then(end, end);
}

const ways = new SecureWays();
const secureClient = http1Client(denoNetwork(() => [authority]));

/** Asks by way of TLS what is to be asked without. */
async function sendSecurely(request: UpstreamRequest) {
  if (!/^http:..127.0.0.1/.test(request.url) || request.url.includes(":1/")) return await secureClient(request);
  return await secureClient({ ...request, url: ways.to(new URL(request.url)).href });
}

describeSend("The upstream client over Deno's fetch", sendByFetch, { readsEarly: true });
describeSend("The upstream client over connections of its own on Deno", sendByConnection);
describeSend("The upstream client over connections of its own with TLS on Deno", sendSecurely, {
  close: () => ways.close(),
});
describeSend("The upstream client over connections of Node's on Deno", send);

describeTlsCauses("Deno's fetch", sendByFetch, false);
describeTlsCauses("A connection of our own on Deno", sendByConnection);

Deno.test("a provider whose certificate no known authority has signed gets nothing", async () => {
  await using upstream = await startUpstream(ok());
  const url = ways.to(new URL(upstream.url)).href;
  const error = await assertRejects(() => sendByConnection({ url, headers: { authorization: "key" } }), NetworkError);
  assertMatch(error.message, /TLS handshake failed/);
  assertEquals([error.neverSent, upstream.calls], [true, 0]);
  ways.close();
});
