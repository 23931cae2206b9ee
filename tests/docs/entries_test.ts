/** What the entries of the package export, by name. */
import { assert, assertEquals } from "@std/assert";
import { readDoc } from "../../scripts/reference/api/doc.ts";

/** The names that an entry exports, types included. */
async function readNames(entry: string): Promise<string[]> {
  const { symbols } = await readDoc(new URL(`../../${entry}`, import.meta.url));
  return symbols.map(({ name }) => name);
}

const [main, connectors, browser] = await Promise.all(["mod.ts", "connector_kit.ts", "browser.ts"].map(readNames));

Deno.test("the main entry exports what a program needs: at most 160 names", () => {
  assert(main!.length <= 160, `${main!.length} names`);
  const promised = ["create", "ModelMesh", "MeshClient", "MeshConfig", "MeshError", "CapabilityTree", "BaseProvider"];
  const interfaces = ["Provider", "SelectionStrategy", "SecretStore", "Storage", "Observability", "Discovery"];
  const types = ["ChatCompletionRequest", "ChatCompletion", "ChatCompletionChunk", "RoutingRecord", "MeshEvent"];
  assertEquals([...promised, ...interfaces, ...types].filter((name) => !main!.includes(name)), []);
});

Deno.test("the entry for connectors exports every type of the main entry and of its own that a connector may name", () => {
  const values = /^[a-z]|^(ChatStream|MeshClient|MeshConfig|ModelMesh|MockOptions|MockResponse|RedisOptions)$/;
  const ofPrograms = /^(ConfigSource|NewProvider|StateInOptions)$/;
  const left = main!.filter((name) => !values.test(name) && !ofPrograms.test(name));
  assertEquals(left.filter((name) => !connectors!.includes(name)), []);
  const parts = ["ModelFeatures", "OperationTable", "VendorOperations", "StorageStat", "Headroom", "Choice"];
  assertEquals(parts.filter((name) => !connectors!.includes(name) || main!.includes(name)), []);
});

Deno.test("the entry for pages exports the same types as the main entry", () => {
  const shared = ["MeshClient", "MeshError", "ChatCompletion", "RoutingRecord", "SelectionStrategy", "BaseProvider"];
  assertEquals(shared.filter((name) => !browser!.includes(name) || !main!.includes(name)), []);
});
