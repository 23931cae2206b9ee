/**
 * What releases have written is read by this one: `tests/fixtures/releases/<version>` has a configuration, a state and the
 * record of clients of each, as they were. See docs/decisions/2026-11-24-older-versions.md.
 */
import { assert, assertEquals } from "@std/assert";
import { parse } from "@std/yaml";
import { ModelMesh } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { readDocument } from "../../src/proxy/clients/client_record.ts";
import { fakeClock } from "../../src/runtime/test.ts";

const folder = new URL("../fixtures/releases/", import.meta.url);
const releases = [...Deno.readDirSync(folder)].map(({ name }) => name).toSorted();

/** What identifies a key differs between two snapshots. */
function withoutKeyIds(state: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const keys = state.keys as readonly object[];
  return { ...state, keys: keys.map((entry) => ({ ...entry, key: "" })) };
}

Deno.test("a minor version that was released has its files here", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  const [major, minor] = version.split(".");
  assert(releases.includes(`${major}.${minor}.0`), `tests/fixtures/releases has no ${major}.${minor}.0`);
});

for (const release of releases) {
  const read = (name: string) => Deno.readTextFile(new URL(`${release}/${name}`, folder));

  Deno.test(`a configuration and a state of ${release} are taken whole`, async () => {
    const state = JSON.parse(await read("state.json"));
    const mesh = new ModelMesh({ clock: fakeClock({ now: state.saved_at }) });
    try {
      await mesh.initialize(parse(await read("modelmesh.yaml")) as Record<string, unknown>);
      mesh.importState(state);
      // a client and its budget come into being with its first request
      const headers = { authorization: "Bearer token-of-sales-0123456789" };
      const listed = await createHandler(mesh)(new Request("http://127.0.0.1/v1/models", { headers }));
      assertEquals(listed.status, 200);
      await listed.body?.cancel();
      assertEquals(withoutKeyIds(JSON.parse(JSON.stringify(mesh.exportState()))), withoutKeyIds(state));
      assertEquals(mesh.poolStatus().chat?.models.map(({ reason }) => reason), ["retry_limit", "manual"]);
    } finally {
      await mesh.close();
    }
  });

  Deno.test(`the record of clients of ${release} is read`, async () => {
    const text = await read("clients.json");
    assertEquals(JSON.stringify(readDocument(text)), JSON.stringify(JSON.parse(text)));
  });
}
