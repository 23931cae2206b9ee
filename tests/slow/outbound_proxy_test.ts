/** The way out: proxies and certificate authorities that the environment names, in processes of their own. */
import { assertEquals, assertGreaterOrEqual, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type ChildCommand, spawnCommand } from "../support/_cli.ts";
import { makeFolder, type TestFolder } from "../support/_library.ts";
import { authorityFile, type OutboundNetwork, startOutboundNetwork } from "../support/_outbound_proxy.ts";
import { goodBody } from "../support/_surface.ts";
import { testConfig } from "../support/proxy.ts";
import { json, startUpstream } from "../support/upstream.ts";

interface Setup {
  readonly network: OutboundNetwork;
  readonly ask: (isStream?: boolean) => Promise<{ status: number; text: string }>;
  readonly child: ChildCommand;
}

/** Runs a test on a proxy over one provider, in a process with this environment. */
async function withProcess(
  place: (network: OutboundNetwork) => {
    url: string;
    env: Readonly<Record<string, string>>;
    provider?: Readonly<Record<string, unknown>>;
  },
  test: (setup: Setup) => Promise<void>,
): Promise<void> {
  await using network = await startOutboundNetwork();
  await using folder: TestFolder = await makeFolder();
  const { url: base, env, provider } = place(network);
  const config = testConfig({
    upstreams: { a: base },
    ...provider && { provider },
    pool: { retry: { max_attempts: 0 } },
  });
  const path = await folder.write("mesh.json", JSON.stringify(config));
  await using child = spawnCommand(["proxy", "--config", path, "--port", "0"], {
    env: { DENO_NO_UPDATE_CHECK: "1", ...env }, // Deno would look for a new release by way of the proxy
  });
  const url = await child.url();
  const ask = async (isStream = false) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...goodBody, stream: isStream }),
    });
    return { status: response.status, text: await response.text() };
  };
  await test({ network, ask, child });
  child.kill("SIGTERM");
  await child.code;
  assertNotMatch(child.err, /canary/, "the password is never printed");
}

const trusted = { NODE_EXTRA_CA_CERTS: authorityFile };

describe("An outbound proxy", () => {
  it("leads to a provider with TLS by CONNECT, non-streaming responses and streams, over connections that are kept", async () => {
    for (const name of ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"]) {
      await withProcess(
        ({ secureUrl, proxyUrl }) => ({ url: secureUrl, env: { [name]: proxyUrl, ...trusted } }),
        async ({ network, ask }) => {
          for (let count = 0; count < 3; count++) {
            assertStringIncludes((await ask()).text, '"through the proxy"');
            const { text } = await ask(true);
            assertStringIncludes(text, '"through"');
            assertStringIncludes(text, "[DONE]");
          }
          assertEquals(network.asked, [`CONNECT ${new URL(network.secureUrl).host}`]);
        },
      );
    }
  });

  it("does not hide that a provider's certificate is not trusted", async () => {
    await withProcess(
      ({ secureUrl, proxyUrl }) => ({ url: secureUrl, env: { HTTPS_PROXY: proxyUrl } }),
      async ({ network, ask }) => {
        assertStringIncludes((await ask()).text, "the TLS handshake failed");
        assertEquals(new Set(network.asked), new Set([`CONNECT ${new URL(network.secureUrl).host}`]));
      },
    );
  });

  it("is asked for what has no TLS", async () => {
    await withProcess(
      ({ plainUrl, proxyUrl }) => ({ url: plainUrl, env: { HTTP_PROXY: proxyUrl } }),
      async ({ network, ask }) => {
        assertStringIncludes((await ask()).text, '"through the proxy"');
        assertStringIncludes((await ask(true)).text, "[DONE]");
        const line = `POST ${network.plainUrl}/chat/completions`;
        assertEquals(network.asked, [line, line]);
      },
    );
  });

  it("is passed by on the way to what NO_PROXY names", async () => {
    for (const NO_PROXY of ["localhost", "*"]) {
      await withProcess(
        ({ localUrl, proxyUrl }) => ({ url: localUrl, env: { HTTPS_PROXY: proxyUrl, NO_PROXY, ...trusted } }),
        async ({ network, ask }) => {
          assertEquals([(await ask()).status, (await ask(true)).status, network.asked], [200, 200, []]);
        },
      );
    }
  });

  it("is never asked for credentials of the machine, which are on its own network", async () => {
    const keys = { AccessKeyId: "ASIAEXAMPLE", SecretAccessKey: "canary-0123456789", Token: "canary-1-0123456789" };
    await using container = await startUpstream(json(keys));
    const provider = { connector: "aws.bedrock.v1", api_key: undefined, config: { region: "eu-central-1" } };
    await withProcess(
      ({ plainUrl, proxyUrl }) => ({
        url: plainUrl,
        env: { HTTP_PROXY: proxyUrl, AWS_CONTAINER_CREDENTIALS_FULL_URI: container.url },
        provider,
      }),
      async ({ network, ask }) => {
        await ask();
        assertEquals(container.calls, 1);
        assertEquals(network.asked.map((line) => line.split(" ")[0]), ["POST"]);
      },
    );
  });

  it("that is unavailable, or refuses us, is reported as such", async () => {
    const proxies = (network: OutboundNetwork) => [
      network.proxyUrl.replace(/:\d+$/, ":9"),
      network.proxyUrl.replace("user:", "nobody:"),
    ];
    for (const which of [0, 1]) {
      await withProcess(
        (network) => ({ url: network.secureUrl, env: { HTTPS_PROXY: proxies(network)[which]!, ...trusted } }),
        async ({ ask, network }) => {
          const { status, text } = await ask();
          assertEquals([status, JSON.parse(text).error.code], [502, "all_attempts_failed"], text);
          assertStringIncludes(text, "Cannot connect to the provider");
          assertGreaterOrEqual(network.asked.length, which);
        },
      );
    }
  });
});

describe("A certificate authority of one's own", () => {
  for (const name of ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "DENO_CERT"]) {
    it(`is trusted by ${name}, directly and behind a proxy`, async () => {
      const env = { [name]: authorityFile };
      await withProcess(({ localUrl }) => ({ url: localUrl, env }), async ({ ask }) => {
        assertEquals([(await ask()).status, (await ask(true)).status], [200, 200]);
      });
      await withProcess(
        ({ secureUrl, proxyUrl }) => ({ url: secureUrl, env: { ...env, HTTPS_PROXY: proxyUrl } }),
        async ({ ask }) => assertEquals((await ask()).status, 200),
      );
    });
  }

  it("is not trusted unless it is named", async () => {
    await withProcess(({ localUrl }) => ({ url: localUrl, env: {} }), async ({ ask }) => {
      const { status, text } = await ask();
      assertEquals(status, 502);
      assertStringIncludes(text, "the TLS handshake failed");
    });
  });
});
