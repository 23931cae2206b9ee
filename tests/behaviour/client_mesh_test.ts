/** `client.mesh`: operator actions and state of a client. */
import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MeshError } from "../../mod.ts";
import { clientOver, messages } from "../support/_library.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const spent = { deactivation: { request_limit: 1 } };

describe("client.mesh", () => {
  it("deactivates and activates models, and says where a request would go", async () => {
    await using upstream = await startUpstream(ok({ text: "hello" }));
    await using made = clientOver({ upstreams: { a: upstream.url, b: upstream.url } });
    const { mesh } = made.client;
    await mesh.ready();
    mesh.deactivate("a");
    const { order, excluded } = await mesh.explain({ messages });
    assertEquals([order.map(({ model }) => model), excluded.map(({ reason }) => reason)], [["b"], ["manual"]]);
    mesh.activate("a");
    assertEquals((await mesh.explain({ messages })).order.length, 2);
    assertEquals(await mesh.sync().then((all) => all.map(({ provider }) => provider)), ["a", "b"]);
    assertEquals((await mesh.probe("a")).provider, "a");
    assertEquals(mesh.getHealthReport().map(({ provider }) => provider), ["a"]);
  });

  it("describes before the start what there is, and refuses what the start would undo", async () => {
    await using upstream = await startUpstream(ok({ text: "hello" }));
    await using made = clientOver({ upstreams: { a: upstream.url, b: upstream.url } });
    const { client, client: { mesh } } = made;
    assertEquals(mesh.listModels().map(({ name, status }) => [name, status]), [["a", "active"], ["b", "active"]]);
    assertEquals([mesh.poolStatus().chat?.active, mesh.activeProviders()], [2, ["a", "b"]]);
    for (const act of [() => mesh.deactivate("a"), () => mesh.activate("a"), () => mesh.exportState()]) {
      assertEquals(assertThrows(act, MeshError).code, "not_initialized");
    }
    await Promise.all([client.ready(), mesh.ready()]);
    mesh.deactivate("a");
    assertEquals([mesh.poolStatus().chat?.active, mesh.activeProviders()], [1, ["b"]]);
  });

  it("exports its state, which another client imports", async () => {
    await using upstream = await startUpstream(ok({ text: "hello" }));
    await using one = clientOver({ upstreams: { a: upstream.url }, pool: spent });
    await using other = clientOver({ upstreams: { a: upstream.url }, pool: spent });
    await one.client.chat.completions.create({ messages });
    await one.client.mesh.ready();
    await other.client.mesh.ready();
    other.client.mesh.importState(JSON.parse(JSON.stringify(one.client.mesh.exportState())));
    assertEquals(other.client.mesh.poolStatus().chat?.models[0]?.reason, "request_limit");
    assertThrows(() => other.client.mesh.importState({ version: -1 }), MeshError);
  });
});
