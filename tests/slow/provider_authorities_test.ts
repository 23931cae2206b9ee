/** Certificate authorities that a provider's settings name (`execution.ca`): whom they hold for, and bad files. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { ConfigError, create, type MeshClient, ProviderError } from "../../mod.ts";
import { spawnCommand } from "../support/_cli.ts";
import { makeFolder, messages } from "../support/_library.ts";
import {
  authorityFile,
  otherAuthorityFile,
  startOtherProvider,
  startOutboundNetwork,
} from "../support/_outbound_proxy.ts";
import { goodBody } from "../support/_surface.ts";
import { testConfig } from "../support/proxy.ts";

/** A configuration whose providers trust these files. */
function createConfig(
  upstreams: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>>,
  settings: object = {},
) {
  const { providers, ...config } = testConfig({ upstreams, pool: { retry: { max_attempts: 0 } } });
  const trusting = Object.entries(providers as Record<string, object>).map(([name, entry]) => {
    const ca = files[name];
    return [name, { ...entry, ...settings, ...(ca === undefined ? {} : { execution: { ca } }) }];
  });
  return { ...config, providers: Object.fromEntries(trusting) };
}

async function readAnswers(client: MeshClient, model: string): Promise<(string | null | undefined)[]> {
  const whole = await client.chat.completions.create({ model, messages });
  let streamed = "";
  for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
    streamed += chunk.choices[0]?.delta.content ?? "";
  }
  return [whole.choices[0]?.message.content, streamed];
}

const answered = ["through the proxy", "through the proxy"];

async function assertMistrusts(client: MeshClient, model: string): Promise<void> {
  const { message } = await assertRejects(() => client.chat.completions.create({ model, messages }), ProviderError);
  assertStringIncludes(message, "the TLS handshake failed");
}

describe("providers.<id>.execution.ca", () => {
  it("is trusted for that provider alone, non-streaming responses and streams", async () => {
    await using network = await startOutboundNetwork();
    await using other = await startOtherProvider();
    const { localUrl } = network;
    const upstreams = { first: localUrl, second: other.url, swapped: localUrl, none: other.url };
    const files = { first: authorityFile, second: otherAuthorityFile, swapped: otherAuthorityFile };
    await using client = create({ config: createConfig(upstreams, files), pool: "chat" });
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all(["first", "second"].map((model) => readAnswers(client, model)));
      assertEquals(answers, [answered, answered]);
    }
    // the connections of the others to the same addresses are kept by now
    await Promise.all([assertMistrusts(client, "swapped"), assertMistrusts(client, "none")]);
  });

  it("may hold several authorities", async () => {
    await using network = await startOutboundNetwork();
    await using other = await startOtherProvider();
    await using folder = await makeFolder();
    const texts = await Promise.all([authorityFile, otherAuthorityFile].map((file) => readFile(file, "utf8")));
    const both = await folder.write("both.pem", `of the intranet\n${texts.join("\n")}`);
    const config = createConfig({ first: network.localUrl, second: other.url }, { first: both, second: both });
    await using client = create({ config, pool: "chat" });
    assertEquals([await readAnswers(client, "first"), await readAnswers(client, "second")], [answered, answered]);
  });

  it("is trusted where the provider's tokens are fetched", async () => {
    await using network = await startOutboundNetwork();
    const auth = {
      method: "oauth",
      token_url: `${network.localUrl}/token`,
      client_id: "mesh",
      client_secret: "secret-of-mesh-0123456789",
    };
    const config = createConfig({ first: network.localUrl }, { first: authorityFile }, { api_key: undefined, auth });
    await using client = create({ config, pool: "chat" });
    assertEquals(await readAnswers(client, "first"), answered);
  });

  it("is trusted behind an outbound proxy, too", async () => {
    await using network = await startOutboundNetwork();
    await using folder = await makeFolder();
    const upstreams = { first: network.secureUrl, swapped: network.secureUrl };
    const config = createConfig(upstreams, { first: authorityFile, swapped: otherAuthorityFile });
    const path = await folder.write("mesh.json", JSON.stringify(config));
    await using child = spawnCommand(["proxy", "--config", path, "--port", "0"], {
      env: { DENO_NO_UPDATE_CHECK: "1", HTTPS_PROXY: network.proxyUrl },
    });
    const url = await child.url();
    const ask = async (model: string) => {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...goodBody, model }),
      });
      await response.text();
      return response.status;
    };
    assertEquals([await ask("first"), await ask("swapped"), await ask("first")], [200, 502, 200]);
    child.kill("SIGTERM");
    await child.code;
  });

  it("that is of no use ends the start, and is a problem of check, all of them with their paths", async () => {
    await using folder = await makeFolder();
    const files = {
      missing: `${folder.path}/missing.pem`,
      folder: folder.path,
      key: await folder.write("key.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
      garbage: await folder.write("bad.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
    };
    const urls = Object.fromEntries(Object.keys(files).map((name) => [name, "https://127.0.0.1:9/v1"]));
    const expected = [
      ["missing", "there is no such file"],
      ["folder", "it is a folder, not a file"],
      ["key", 'the file holds no certificate in PEM ("-----BEGIN CERTIFICATE-----")'],
      ["garbage", "certificate 1 of 1 in the file is malformed"],
    ].map(([name, reason]) => ({
      path: `providers.${name}.execution.ca`,
      message: `${JSON.stringify(files[name as keyof typeof files])}: ${reason}`,
    }));
    const config = createConfig(urls, files);
    await using client = create({ config, pool: "chat" });
    const { problems } = await assertRejects(() => client.ready(), ConfigError);
    assertEquals(problems.toSorted(byPath), expected.toSorted(byPath));

    const path = await folder.write("mesh.json", JSON.stringify(config));
    await using child = spawnCommand(["check", path, "--json"]);
    assertEquals(await child.code, 1);
    assertEquals(JSON.parse(child.out).problems.toSorted(byPath), expected.toSorted(byPath));
  });

  it("is refused with a fetch of the program's own, which trusts what it trusts", async () => {
    const config = createConfig({ first: "https://127.0.0.1:9/v1" }, { first: authorityFile });
    await using client = create({ config, pool: "chat", fetch });
    const { problems } = await assertRejects(() => client.ready(), ConfigError);
    assertEquals(problems.map(({ path }) => path), ["providers.first.execution.ca"]);
  });
});

function byPath(one: { path: string }, other: { path: string }): number {
  return one.path < other.path ? -1 : 1;
}
