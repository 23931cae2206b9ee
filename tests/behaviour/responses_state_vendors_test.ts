/** A stored conversation that changes its provider between turns. */
import { describe, it } from "@std/testing/bdd";
import { memoryStorage, ModelMesh, stateIn } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { responsesCaller } from "../support/_stored_responses.ts";
import { converse, startThreeVendors } from "../support/_three_vendors.ts";

describe("A stored conversation", () => {
  it("goes on at providers of three APIs, with a tool loop, also after restarts", async () => {
    await using vendors = await startThreeVendors();
    const storage = memoryStorage();
    const { storage: _, ...config } = vendors.config({});
    let stop = async () => {};
    await converse(vendors, async () => {
      await stop();
      const mesh = new ModelMesh({ storage: stateIn(storage) });
      await mesh.initialize(config);
      const server = await listen(createHandler(mesh), { port: 0 });
      stop = async () => {
        await server.stop(0);
        await mesh.close();
      };
      return responsesCaller(`http://127.0.0.1:${server.port}`);
    });
    await stop();
  });
});
