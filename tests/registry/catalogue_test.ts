import { assertEquals, assertThrows } from "@std/assert";
import { memorySecretsConnector } from "../../connectors/secrets/memory.ts";
import { memoryStorageConnector } from "../../connectors/storage/memory.ts";
import { ConfigError } from "../../src/errors.ts";
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
