import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { memorySecretsConnector } from "../../connectors/secrets/memory.ts";
import { memoryStorageConnector } from "../../connectors/storage/memory.ts";
import type { LazyConnector } from "../../src/contracts/connector.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { ConnectorCatalogue } from "../../src/registry/catalogue.ts";

Deno.test("two connectors of one id are apart when they are of two kinds", () => {
  const catalogue = new ConnectorCatalogue([memorySecretsConnector, memoryStorageConnector]);
  assertEquals(catalogue.get("secretStore", "mesh.memory.v1"), memorySecretsConnector);
  assertEquals(catalogue.get("storage", "mesh.memory.v1"), memoryStorageConnector);
  assertEquals([catalogue.ids("storage"), catalogue.ids("secretStore")], [["mesh.memory.v1"], ["mesh.memory.v1"]]);
  assertThrows(
    () => catalogue.get("strategy", "mesh.memory.v1"),
    ConfigError,
    'no strategy connector "mesh.memory.v1"',
  );
});

Deno.test("a connector takes the place of one of its kind and id", () => {
  const catalogue = new ConnectorCatalogue([memorySecretsConnector, memoryStorageConnector]);
  const own = { ...memoryStorageConnector };
  catalogue.register("mesh.memory.v1", own);
  assertEquals(catalogue.get("storage", "mesh.memory.v1"), own);
  assertEquals(catalogue.get("secretStore", "mesh.memory.v1"), memorySecretsConnector);
});

Deno.test("a connector's code is imported when it is named, and once", async () => {
  let imports = 0;
  const lazy: LazyConnector<"storage"> = {
    id: "mesh.memory.v1",
    kind: "storage",
    load: () => {
      imports++;
      return Promise.resolve(memoryStorageConnector);
    },
  };
  const catalogue = new ConnectorCatalogue([lazy, memorySecretsConnector]);
  assertEquals([catalogue.loaded("storage", lazy.id), imports], [undefined, 0]);
  assertStrictEquals(await catalogue.load("storage", lazy.id), memoryStorageConnector);
  await catalogue.load("storage", lazy.id);
  assertStrictEquals(catalogue.loaded("storage", lazy.id), memoryStorageConnector);
  assertEquals(imports, 1);
  assertStrictEquals(catalogue.loaded("secretStore", lazy.id), memorySecretsConnector);
});

Deno.test("a connector whose code cannot be imported is named, and tried again", async () => {
  const tries = [() => Promise.reject(new TypeError("offline")), () => Promise.resolve(memoryStorageConnector)];
  const catalogue = new ConnectorCatalogue([{ id: "a.b.v1", kind: "storage", load: () => tries.shift()!() }]);
  await assertRejects(() => catalogue.load("storage", "a.b.v1"), ConnectorError, '"a.b.v1" cannot be loaded');
  assertStrictEquals(await catalogue.load("storage", "a.b.v1"), memoryStorageConnector);
});
