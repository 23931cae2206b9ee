/** The secret store of encrypted files does what all of them do; each of its keys takes a tenth of a second to derive. */
import { testSecretStore } from "../../connectors/_secret_store_suite.ts";

testSecretStore("mesh.encrypted-file.v1");
