/** Secrets that a configuration contains as they are appear in no record. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { testConfig } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";
import { listSpellings } from "../support/_canaries.ts";

const secrets = {
  bare: "bare-token-0123456789",
  named: "token/of+the=app-0123456789",
  admin: "token-of-an-admin-0123456789",
  program: "token-of-the-program-0123456789",
  id: "secret-of-ids-0123456789-0123456789-0123456789",
  webhook: "whsec_d2ViaG9vay1zZWNyZXQtMDEyMzQ1Njc4OQ==",
  header: "header-of-the-collector-0123456789",
  authorization: "Basic dXNlcjpwYXNzd29yZC0wMTIzNDU2Nzg5",
} as const;

const sections = {
  proxy: {
    auth: { tokens: [secrets.bare, { token: secrets.named, name: "app" }], admin_tokens: [secrets.admin] },
    id_secret: secrets.id,
  },
  observability: {
    routing: [
      { connector: "mesh.webhook.v1", url: "http://127.0.0.1:9/hook", secret: secrets.webhook },
      {
        connector: "mesh.opentelemetry.v1",
        url: "http://127.0.0.1:9",
        config: { headers: { "x-api-key": secrets.header, authorization: secrets.authorization } },
      },
    ],
  },
};

describe("A literal secret of the configuration", () => {
  it("is redacted in logs and traces, in all encodings", async () => {
    await using upstream = await startUpstream(respond());
    const clock = fakeClock();
    const mesh = new ModelMesh({ clock });
    const records: unknown[] = [];
    const add = (record: unknown) => void records.push(record);
    await mesh.initialize(testConfig({ upstreams: { a: upstream.url }, config: sections }));
    mesh.addSink({ emit: () => {}, log: add, trace: add, flush: () => Promise.resolve() });
    const handler = createHandler(mesh, { tokens: [secrets.program] });
    for (const [name, secret] of Object.entries(secrets)) {
      for (const spelling of [secret, encodeURIComponent(secret)]) {
        records.length = 0;
        await clock.advance(1_000); // at most ten lines a second
        const response = await handler(new Request(`http://127.0.0.1/v1/files/${spelling}/x`));
        assertEquals([response.status, records.length], [401, 1], name);
        const text = JSON.stringify(records);
        assertEquals(listSpellings(secret).filter((one) => text.includes(one)), [], text);
      }
    }
    await mesh.close();
  });
});
