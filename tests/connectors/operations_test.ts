/** The operations other than chat of all provider connectors, by the suite that is the same for each. */
import { testRuntime } from "../../src/runtime/test.ts";
import { loadedProviders } from "../support/connectors.ts";
import { testOperation } from "./_operation.ts";
import { ofSearch } from "./_search_operations.ts";
import { ofSound } from "./_sound_operations.ts";
import { own, usual } from "./_vendor_operations.ts";

/** What a connector needs to be made at all. */
const configs: Readonly<Record<string, object>> = {
  "aws.bedrock.v1": { region: "eu-central-1" },
  "google.vertex.v1": { project: "my-project", location: "europe-west1" },
};

for (const { id, create } of loadedProviders) {
  const settings = { id, baseUrl: "https://provider.example/v1", config: configs[id] ?? {} };
  for (const operation of create(settings, testRuntime()).operations ?? []) {
    const facts = (own[id] ?? ofSound[id] ?? ofSearch[id])?.[operation] ?? usual[operation];
    if (facts === undefined) throw new Error(`${id}: add its requests and replies for ${operation}`);
    testOperation({ ...facts, connector: id, operation });
  }
}
