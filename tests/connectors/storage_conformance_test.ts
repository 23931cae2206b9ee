/** Every storage and every writable secret store does what all of them do. */
import { afterAll, describe, it } from "@std/testing/bdd";
import { browserSecrets } from "../../connectors/secrets/browser.ts";
import { memorySecrets } from "../../connectors/secrets/memory.ts";
import { IndexedDbStorage } from "../../connectors/storage/indexeddb.ts";
import { LocalFileStorage } from "../../connectors/storage/local_file.ts";
import { LocalStorageStorage } from "../../connectors/storage/localstorage.ts";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { type MakeSecretStore, secretStoreConformance } from "../contracts/secret_store.ts";
import { type MakeStorage, storageConformance } from "../contracts/storage.ts";
import { fakeDatabases, FakeWebStorage } from "../support/web_storage.ts";

import { disk } from "../../src/runtime/_disk.ts";
import { makeFolder, type TestFolder } from "../support/_library.ts";

let made = 0;
const folders: TestFolder[] = [];

/** On the real disk, in a folder of its own that is not there yet. */
const onDisk: MakeStorage = async (clock) => {
  const folder = await makeFolder();
  folders.push(folder);
  return new LocalFileStorage({ clock, disk: disk() }, { path: `${folder.path}/new/state.json` });
};

/** A storage under names of its own in Deno's own `sessionStorage`, which ends with the process. */
const overDenosOwn: MakeStorage = (clock) =>
  new LocalStorageStorage(clock, { area: globalThis.sessionStorage, prefix: `conformance-${made++}` });

const storages: Record<string, MakeStorage> = {
  "mesh.memory.v1": (clock) => new MemoryStorage(clock),
  "mesh.local-file.v1": onDisk,
  "mesh.localstorage.v1": (clock) => new LocalStorageStorage(clock, { area: new FakeWebStorage() }),
  "mesh.localstorage.v1 over Deno's own sessionStorage": overDenosOwn,
  "mesh.indexeddb.v1": (clock) => new IndexedDbStorage(clock, { factory: fakeDatabases() }),
};

for (const [id, make] of Object.entries(storages)) {
  describe(`the storage ${id}`, () => {
    afterAll(async () => {
      for (const folder of folders.splice(0)) await folder[Symbol.asyncDispose]();
    });
    for (const { name, run } of storageConformance(make)) it(name, run);
  });
}

const secretStores: Record<string, MakeSecretStore> = {
  "mesh.memory.v1": () => memorySecrets(),
  "mesh.browser-secrets.v1": () => browserSecrets({ area: new FakeWebStorage() }),
};

for (const [id, make] of Object.entries(secretStores)) {
  describe(`the secret store ${id}`, () => {
    for (const { name, run } of secretStoreConformance(make)) it(name, run);
  });
}
