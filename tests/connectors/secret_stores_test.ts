/** Every secret store of servers that can be written does what all of them do; `tests/slow` has that of encrypted files. */
import { usedStores } from "./_secret_stores.ts";
import { testSecretStore } from "./_secret_store_suite.ts";

for (const id of Object.keys(usedStores)) if (id !== "mesh.encrypted-file.v1") testSecretStore(id);
