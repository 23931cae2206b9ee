/** `/mesh/events` over a reload: what a stream shows depends on the tokens of now. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { startOnFile } from "../support/_renewed.ts";
import { makeFolder } from "../support/_library.ts";
import { happens } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const [leaving, staying] = ["of-one-who-leaves-0123456789", "of-one-who-stays-0123456789"];

/** The clients of the records that a stream shows, once it has ended or shown so many. */
async function clientsIn(response: Response, count = Infinity): Promise<string[]> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const clients: string[] = [];
  for (let text = ""; clients.length < count;) {
    const { done, value } = await reader.read();
    if (done) return clients;
    text += value;
    const events = text.split("\n\n");
    text = events.pop()!;
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data: "));
      if (data !== undefined) clients.push(JSON.parse(data.slice(6)).client ?? "none");
    }
  }
  await reader.cancel();
  return clients;
}

describe("A stream of /mesh/events", () => {
  it("ends with a reload that removes its token, and shows what a reload that limits it leaves", async () => {
    await using folder = await makeFolder();
    await using upstream = await startUpstream(ok());
    const configWith = (tokens: readonly object[]) =>
      testConfig({ upstreams: { a: upstream.url }, config: { proxy: { auth: { tokens } } } });
    const stays = { token: staying, name: "stays" };
    const asks = { token: "of-the-app-0123456789", name: "asks" };
    await using started = await startOnFile(
      folder.path,
      configWith([{ token: leaving, name: "leaves" }, stays, asks]),
    );
    const open = (token: string) =>
      fetch(`${started.proxy.url}/mesh/events`, {
        headers: { authorization: `Bearer ${token}`, "last-event-id": "0" },
      });
    const [left, limited] = [await open(leaving), await open(staying)];
    const [seenByLeft, seenByLimited] = [clientsIn(left), clientsIn(limited, 2)];
    assertEquals(await started.ask(asks.token), 200);
    await started.renew(configWith([{ ...stays, rpm: 100 }, asks]));
    assertEquals(await started.ask(asks.token), 200);
    assertEquals(await started.ask(staying), 200);
    assertEquals(await happens("the stream ends", seenByLeft), ["asks"]);
    assertEquals(await happens("its own request is shown", seenByLimited), ["asks", "stays"]);
  });
});
