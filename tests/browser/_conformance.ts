/**
 * What a page needs to hold what it keeps things in to what each of its kind does; bundled for it, as this file is.
 * @module
 */
import { browserSecrets } from "../../connectors/secrets/browser.ts";
import { IndexedDbStorage } from "../../connectors/storage/indexeddb.ts";
import { LocalStorageStorage } from "../../connectors/storage/localstorage.ts";
import type { ConformanceCase } from "../contracts/_plain.ts";
import { secretStoreConformance } from "../contracts/secret_store.ts";
import { storageConformance } from "../contracts/storage.ts";

let count = 0;
/** An unused storage is empty. */
const unused = () => `test-${count++}`;

/** The tests of each storage and secret store, by what makes it. */
export const suites: Readonly<Record<string, readonly ConformanceCase[]>> = {
  localStorageStorage: storageConformance((clock) => new LocalStorageStorage(clock, { prefix: unused() })),
  indexedDbStorage: storageConformance((clock) => new IndexedDbStorage(clock, { database: unused() })),
  browserSecrets: secretStoreConformance(() => browserSecrets({ prefix: unused() })),
  lastingBrowserSecrets: secretStoreConformance(() => browserSecrets({ prefix: unused(), persist: true })),
};
