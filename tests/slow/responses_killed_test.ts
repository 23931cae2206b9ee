/** Stored responses of proxies that are killed. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { converseOverKills, spawnKillableProxy } from "../support/_killable_proxy.ts";
import { tempFolder } from "../support/_runtime_clients.ts";
import { responsesCaller } from "../support/_stored_responses.ts";
import { startThreeVendors } from "../support/_three_vendors.ts";
import { until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { hang, startUpstream } from "../support/upstream.ts";

describe("A stored response", () => {
  it("is continued at providers of three APIs, with a tool loop, although the proxy is killed after each turn", async () => {
    await using vendors = await startThreeVendors();
    await using folder = await tempFolder();
    const config = vendors.config({ connector: "mesh.local-file.v1", path: `${folder.path}/state.json` });
    await converseOverKills(vendors, config);
  });

  it("has failed if the proxy was killed while it worked on it, and is not requested again", async () => {
    await using upstream = await startUpstream(hang());
    await using folder = await tempFolder();
    const config = testConfig({
      upstreams: { one: upstream.url },
      config: {
        storage: { connector: "mesh.local-file.v1", path: `${folder.path}/state.json` },
        proxy: { responses: { state: true } },
      },
    });
    const first = await spawnKillableProxy(config);
    const { json: { id } } = await responsesCaller(first.url).create({ input: "Hi", background: true });
    await upstream.received(1);
    await first.kill();
    const next = await spawnKillableProxy(config);
    const client = responsesCaller(next.url);
    await until(async () => (await client.call("GET", id)).json.status === "failed");
    const { json } = await client.call("GET", id);
    assertEquals([json.error.code, upstream.calls], ["server_error", 1]);
    await next.kill();
  });
});
