import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { writeFile } from "node:fs/promises";
import { serverConnectors } from "../../connectors/server.ts";
import { runCli } from "../../src/cli/main.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { builtInContents, createSigner } from "../support/_catalogue_documents.ts";
import { fakeShell, runCommand } from "../support/_cli.ts";
import { tempFolder } from "../support/_runtime_clients.ts";
import { json, startUpstream, status } from "../support/upstream.ts";

const signer = await createSigner();
const contents = builtInContents("2027-01-01", "xai.grok.v1");
contents.providers["xai.grok.v1"]!.push({ id: "grok-9", source: "example.com", as_of: "2027-01-01" });
const text = await signer.sign(contents);

describe("modelmesh catalogue verify", () => {
  const verify = (document: string, ...more: string[]) =>
    runCommand(["catalogue", "verify", "c.json", "--key", signer.publicKey, ...more], {
      files: { "c.json": document },
    });

  it("prints the date and the differences of a valid document", async () => {
    const { code, out, err } = await verify(text);
    assertEquals([code, err], [0, ""]);
    assertMatch(out, /^c\.json is valid: \d+ models of 1 provider, as of 2027-01-01\n {2}new: xai\.grok\.v1 grok-9\n$/);
    const { ok, date, added, changed } = JSON.parse((await verify(text, "--json")).out);
    assertEquals([ok, date, added, changed], [true, "2027-01-01", ["xai.grok.v1 grok-9"], []]);
  });

  it("fails with the paths of what is invalid", async () => {
    const pricing = [{ input: -1 }, { per_parsec: 1 }];
    const invalid = { ...contents, providers: { a: [{ id: "m", source: "s", as_of: "2027-01-01", pricing }] } };
    const { code, out, err } = await verify(await signer.sign(invalid));
    assertEquals([code, out], [1, ""]);
    assertStringIncludes(err, "The catalogue c.json is not used: 2 problems\n  providers.a[0].pricing[0].input: ");
    assertStringIncludes(err, "\n  providers.a[0].pricing[1].per_parsec: unknown key");
    const tampered = await verify(text.replace("2027-01-01", "2028-01-01"));
    assertEquals(tampered.code, 1);
    assertStringIncludes(tampered.err, "signature: does not match");
    const older = await verify(await signer.sign({ ...contents, date: "2025-01-01" }));
    assertEquals(older.code, 1);
    assertMatch(
      older.err,
      /^The catalogue c\.json is not used: date: 2025-01-01 is before [\d-]+, the date of the built-in/,
    );
  });

  it("names the address of a server that is not reached", async () => {
    const address = "http://127.0.0.1:1/c.json";
    const { code, err } = await runCommand(["catalogue", "verify", address, "--key", signer.publicKey]);
    const reason = "cannot be downloaded: cannot connect to the server: refused";
    assertEquals([code, err], [1, `The catalogue ${address} ${reason}\n`]);
  });

  it("reports wrong arguments", async () => {
    for (const args of [[], ["verfy"], ["verify"], ["verify", "c.json"], ["verify", "c.json", "--key", "k"]]) {
      assertEquals((await runCommand(["catalogue", ...args])).code, 2, args.join(" "));
    }
    assertEquals((await runCommand(["catalogue", "show", "--key", signer.publicKey])).code, 2);
    const missing = await runCommand(["catalogue", "verify", "c.json", "--key", signer.publicKey]);
    assertEquals([missing.code, missing.err], [1, "Cannot read c.json: is the path right?\n"]);
  });
});

describe("modelmesh catalogue update, show", () => {
  it("keep a document in the storage, and show it", async () => {
    await using folder = await tempFolder();
    await using server = await startUpstream(json(JSON.parse(text)));
    const config = JSON.stringify({
      providers: { "xai.grok.v1": { api_key: "key-0123456789" } },
      storage: { connector: "mesh.local-file.v1", path: `${folder.path}/state.json` },
      discovery: { catalogue: { url: `${server.url}/catalogue.json`, public_key: signer.publicKey } },
    });
    const path = `${folder.path}/mesh.json`;
    await writeFile(path, config);
    const run = async (action: string, ...more: string[]) => {
      const shell = fakeShell();
      const parts = { connectors: serverConnectors, runtime: serverRuntime(), shell };
      const code = await runCli(["catalogue", action, path, ...more], parts);
      return { code, out: shell.out, err: shell.err };
    };
    const empty = await run("show");
    assertEquals([empty.code, empty.err], [0, ""]);
    assertStringIncludes(empty.out, "\nKept: none\n");
    assertEquals(server.calls, 0);
    const updated = await run("update");
    assertEquals([updated.code, updated.err], [0, ""]);
    assertStringIncludes(updated.out, "as of 2027-01-01\n  new: xai.grok.v1 grok-9\n");
    const shown = await run("show");
    assertMatch(shown.out, /^Built in: \d+ models, as of \d{4}-\d\d-\d\d\nRenewed from: http:/);
    assertMatch(
      shown.out,
      /\nKept: \d+ models of 1 provider, as of 2027-01-01 \(in use\)\n {2}new: xai\.grok\.v1 grok-9\n$/,
    );
    const { built_in, renewed } = JSON.parse((await run("show", "--json")).out);
    assertEquals([typeof built_in.models, renewed.date, renewed.in_use], ["number", "2027-01-01", true]);
    server.follow(json(JSON.parse(await signer.sign({ ...contents, date: "2026-12-31" }))));
    const older = await run("update");
    assertEquals(older.code, 1);
    assertStringIncludes(older.err, "date: 2026-12-31 is before 2027-01-01, the date of the one in use");
    server.follow(status(404));
    assertStringIncludes((await run("update")).err, "cannot be downloaded: the server answered 404");
    assertEquals(JSON.parse((await run("show", "--json")).out).renewed.date, "2027-01-01");
  });

  it("say what the configuration lacks", async () => {
    const files = { "mesh.json": JSON.stringify({ providers: { "xai.grok.v1": { api_key: "key-0123456789" } } }) };
    const { code, err } = await runCommand(["catalogue", "update", "mesh.json"], { files });
    assertEquals(code, 1);
    assertStringIncludes(err, 'no section "discovery.catalogue"');
    assertStringIncludes((await runCommand(["catalogue", "show", "mesh.json"], { files })).out, "Not renewed");
    assertMatch((await runCommand(["catalogue", "show"])).out, /^Built in: \d+ models, as of [\d-]+ \(in use\)\n$/);
  });
});
