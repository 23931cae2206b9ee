/** Credentials of the machine in a cloud, in place of keys. */
import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { bedrock } from "../../support/_bedrock.ts";
import {
  type IdentityServices,
  type Machine,
  machines,
  machineSecrets,
  readCredentialNumber,
  startIdentityServices,
} from "../../support/_cloud_identity.ts";
import { speaking } from "../../support/_dialects.ts";
import { after, eveningClock, soon, Stage } from "../../support/_failover.ts";
import { clientOver, getText, makeFolder, messages, type TestFolder } from "../../support/_library.ts";
import { listTraces } from "../../support/_token_endpoint.ts";
import { until } from "../../support/patience.ts";
import { startTestProxy } from "../../support/proxy.ts";
import {
  type Behaviour,
  Gate,
  hang,
  json,
  type ReceivedRequest,
  respond,
  type Script,
  startUpstream,
  status,
} from "../../support/upstream.ts";

const providers = {
  aws: {
    connector: "aws.bedrock.v1",
    config: { region: "eu-central-1" },
    answer: bedrock.respond({ pieces: ["Hello"] }),
    model: "amazon.nova-lite-v1:0",
    path: "",
  },
  google: {
    connector: "google.vertex.v1",
    config: { project: "p", location: "europe-west1" },
    answer: speaking.gemini.respond({ pieces: ["Hello"] }),
    model: "gemini-2.5-flash",
    path: "/v1",
  },
  azure: {
    connector: "azure.openai.v1",
    config: {},
    answer: respond({ text: "Hello" }),
    model: "deployment",
    path: "/openai/v1",
  },
} as const;

/** A machine's environment, its cloud's services, and a provider that accepts credentials from a number on. */
class World implements AsyncDisposable {
  readonly services: IdentityServices;
  readonly folder: TestFolder;
  readonly env: Record<string, string>;
  readonly stage: Stage;

  constructor(parts: Pick<World, "services" | "folder" | "env" | "stage">) {
    Object.assign(this, parts);
    this.services = parts.services;
    this.folder = parts.folder;
    this.env = parts.env;
    this.stage = parts.stage;
  }

  /** The numbers of the credentials that the provider has received. */
  get used(): (number | undefined)[] {
    return this.stage.upstreams.a!.requests.map(readCredentialNumber);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]();
    await this.services[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}

interface WorldOptions {
  /** The provider's responses, given its usual one. */
  readonly script?: (usual: Behaviour) => Script;
  /** Further settings of the provider. */
  readonly entry?: object;
  /** Further sections. */
  readonly config?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly skipSleeps?: boolean;
}

async function enter(
  machine: Machine,
  { script, entry, config: sections, env: more = {} }: WorldOptions = {},
): Promise<World> {
  const { connector, config, answer: usual, model, path } = providers[machine.cloud];
  const clock = eveningClock();
  const services = await startIdentityServices(clock);
  const folder = await makeFolder();
  const env = { ...await machine.env(services, folder), ...more };
  const a = await startUpstream(script?.(usual) ?? usual);
  const base_url = a.url.replace(/\/v1$/, path);
  const proxy = await startTestProxy({
    clock,
    env,
    upstreams: {},
    config: {
      providers: { a: { connector, config, base_url, discovery: { enumerate_models: false }, ...entry } },
      ...sections,
      models: { a: { provider: "a", model, capabilities: ["chat-completion"] } },
      pools: { chat: { models: ["a"], retry: { max_attempts: 0 } } },
    },
  });
  return new World({ services, folder, env, stage: new Stage(proxy, { a }) });
}

/** One of each service. */
const representatives = ["EC2 metadata", "Google metadata", "Azure workload identity"];

for (const [name, machine] of Object.entries(machines)) {
  const steps = machine.steps ?? 1;
  describe(`the identity of a machine: ${name}`, () => {
    it("authorizes calls, streamed or not, is fetched once for all who wait, and appears nowhere", async () => {
      await using world = await enter(machine);
      const { stage, services } = world;
      const traces = listTraces(stage);
      const count = representatives.includes(name) ? 30 : 10;
      const texts = await Promise.all(Array.from({ length: count }, async () => (await stage.ask()).text));
      assertEquals([new Set(texts), services.issued], [new Set(["Hello"]), steps]);
      assertEquals((await stage.askStream()).text, "Hello");
      assertEquals([new Set(world.used), world.used.length], [new Set([steps]), count + 1]);
      assertFalse(JSON.stringify([traces, stage.proxy.records, stage.proxy.mesh.poolStatus()]).includes("canary"));
    });

    it("is renewed before its end, without a wait, and once", async () => {
      await using world = await enter(machine);
      const { stage, services } = world;
      await stage.ask();
      const configured = name === "Azure application"; // as any other secret, whose tokens are renewed a minute before
      await stage.clock.advance((configured ? 3_540 : 3_300) * 1000);
      services.gate = new Gate();
      if (configured) services.gate.openAll();
      await Promise.all(Array.from({ length: 20 }, () => stage.ask()));
      services.gate.openAll();
      await until(() => services.issued === 2 * steps);
      for (let tries = 0; tries < 100 && world.used.at(-1) !== 2 * steps; tries++) await stage.ask();
      assertEquals([services.issued, world.used.at(-1)], [2 * steps, 2 * steps]);
      assertEquals(world.used.slice(0, 20).every((number) => configured || number === steps), true);
    });
  });
}

describe("the identity of a machine", () => {
  for (const name of representatives) {
    it(`that can no longer be fetched is used to its end, then the provider has failed: ${name}`, async () => {
      await using world = await enter(machines[name]!);
      const { stage, services } = world;
      await stage.ask();
      const calls = services.server.calls;
      services.follow(status(503, { text: JSON.stringify(machineSecrets) }));
      const traces = listTraces(stage);
      for (const seconds of [3_301, 3_500, 3_590]) {
        await stage.clock.advance(seconds * 1000 - (stage.clock.now() - Date.UTC(2026, 0, 1, 18)));
        assertEquals((await Promise.all([stage.ask(), stage.ask()])).map(({ text }) => text), ["Hello", "Hello"]);
      }
      assert(services.server.calls - calls <= 9, `${services.server.calls - calls} calls`);
      await stage.clock.advance(20_000);
      const { status: code, error } = await stage.ask();
      assertEquals(code, 502);
      assertMatch(error!.message, /answered 503/);
      assertFalse(JSON.stringify([traces, stage.proxy.records, error]).includes("canary"));
      services.follow(undefined);
      await stage.clock.advance(60_000);
      assertEquals((await stage.ask()).text, "Hello");
    });
  }

  it("serves a library as well", async () => {
    for (const machine of [machines["AWS web identity"]!, machines["Google metadata"]!, machines["Azure machine"]!]) {
      await using world = await enter(machine);
      const { connector, config, model, path } = providers[machine.cloud];
      const base_url = world.stage.upstreams.a!.url.replace(/\/v1$/, path);
      await using made = clientOver({
        upstreams: {},
        config: {
          providers: { a: { connector, config, base_url, discovery: { enumerate_models: false } } },
          models: { a: { provider: "a", model, capabilities: ["chat-completion"] } },
          pools: { chat: { models: ["a"] } },
        },
        options: { env: world.env },
      });
      assertEquals(getText(await made.client.chat.completions.create({ messages })), "Hello");
    }
  });

  it("whose wait one request leaves is fetched for the others all the same", async () => {
    for (const machine of [machines["EC2 metadata"]!, machines["Google metadata"]!]) {
      await using world = await enter(machine);
      const { stage, services } = world;
      const gate = services.gate = new Gate();
      const leaving = new AbortController();
      const left = stage.ask({}, { signal: leaving.signal }).catch(() => "left");
      await soon(gate.reached(1));
      const other = stage.ask();
      leaving.abort();
      assertEquals(await left, "left");
      gate.openAll();
      assertEquals([(await soon(other)).text, services.issued], ["Hello", 1]);
    }
  });

  it("ends by the clock of its issuer, whatever that of the machine", async () => {
    await using world = await enter(machines["AWS web identity"]!);
    const { stage, services } = world;
    services.now = () => stage.clock.now() - 30 * 60_000; // the machine is half an hour ahead
    await stage.ask();
    await stage.clock.advance(3_200_000);
    await stage.ask();
    assertEquals([services.issued, world.used], [1, [1, 1]]);
  });

  it("that ends within a minute is fetched for each call, and one that seems to have ended is used all the same", async () => {
    await using world = await enter(machines["AWS web identity"]!);
    const { stage, services } = world;
    services.lifetime = 30;
    await stage.askTimes(2);
    assertEquals(services.issued, 2);
    services.lifetime = -30; // AWS does so during an outage, and accepts what it has issued
    await stage.askTimes(3);
    await stage.clock.advance(300_000);
    await stage.ask();
    assertEquals([services.issued, world.used], [4, [1, 2, 3, 3, 3, 4]]);
  });

  it("is not quoted, whatever a provider answers", async () => {
    const quote = ({ headers }: ReceivedRequest): Behaviour => {
      const { authorization, "x-amz-security-token": session } = headers;
      return status(400, {
        json: { message: `Wrong: ${authorization} ${session}`, error: { message: authorization } },
      });
    };
    for (const name of representatives) {
      await using world = await enter(machines[name]!, { script: () => quote });
      const { stage } = world;
      const traces = listTraces(stage);
      const { status: code, body } = await stage.ask();
      assertEquals([code, stage.upstreams.a!.calls], [400, 1]);
      assertFalse(JSON.stringify([body, traces, stage.proxy.records]).includes("canary"), name);
    }
  });

  it("is that of the token in the file now", async () => {
    await using world = await enter(machines["AWS web identity"]!);
    const { stage, services, folder } = world;
    await stage.ask();
    await folder.write("token", "canary-web-identity-rotated");
    await stage.clock.advance(3_550_000);
    await stage.ask();
    const [first, second] = services.server.requests.map(({ body }) =>
      new URLSearchParams(body).get("WebIdentityToken")
    );
    assertEquals([first, second], [machineSecrets.webToken, "canary-web-identity-rotated"]);
  });

  it("that was revoked before its end is fetched again, once", async () => {
    const revoked: Behaviour = status(403, { headers: { "x-amzn-errortype": "ExpiredTokenException" }, json: {} });
    const isFirst = (request: ReceivedRequest) => readCredentialNumber(request) === 1;
    await using world = await enter(machines["EC2 metadata"]!, {
      script: (usual) => (request) => isFirst(request) ? revoked : usual,
    });
    assertEquals([(await world.stage.ask()).text, (await world.stage.askStream()).text], ["Hello", "Hello"]);
    assertEquals([world.services.issued, world.used], [2, [1, 2, 2]]);
  });
});

describe("a service that issues credentials", () => {
  const odd: Readonly<Record<string, [Script, RegExp]>> = {
    "5xx": [status(500), /answered 500/],
    "a web page": [status(200, { text: "<html>canary</html>" }), /answered (200|without)/],
    "half a JSON": [status(200, { text: '{"Token": "canary' }), /answered (200|without)/],
    "nothing of use": [json({}), /without credentials|no access token|without a token/],
    "a token that is not one": [
      json({ access_token: "two\nlines", expires_in: 9, Token: "two\nlines" }),
      /without credentials|no access token/,
    ],
    "too much": [json({ access_token: "x".repeat(70_000), expires_in: 3600 }), /more than 65536 bytes/],
    "a redirect": [status(302, { headers: { location: "/elsewhere" } }), /answered 302/],
    "a refusal": [status(403, { json: { error: "canary-0123456789" } }), /answered 403/],
    "silence": [hang(), /did not respond within \d+ ms/],
  };
  for (const [what, [script, message]] of Object.entries(odd)) {
    it(`that answers with ${what} is named, and is not called without end`, async () => {
      for (
        const name of ["AWS container, token", "EC2 metadata", "Google metadata", "Azure machine"]
      ) {
        await using world = await enter(machines[name]!);
        const { stage, services } = world;
        services.follow(script);
        const asked = stage.ask();
        await soon(services.server.received(1));
        const { status: code, error } = what === "silence"
          ? await after(stage.clock, 20_000, asked)
          : await soon(asked);
        assertEquals(code, 502, name);
        if (!/upstream_auth_error/.test(error?.code ?? "")) assertMatch(error!.message, message, name);
        assert(services.server.calls <= 3, `${name}: ${services.server.calls} calls`);
        assertFalse(JSON.stringify([stage.proxy.records, error]).includes("canary"), name);
        assertEquals(stage.upstreams.a!.calls, 0);
      }
    });
  }

  it("in a container may be called without encryption on this machine only", async () => {
    for (
      const address of [
        "http://credentials.example.com/",
        "http://169.254.169.254/",
        "http://u:p@localhost/",
        "ftp://x",
        "x",
      ]
    ) {
      const env = {
        AWS_CONTAINER_CREDENTIALS_FULL_URI: address,
        AWS_CONTAINER_AUTHORIZATION_TOKEN: machineSecrets.containerToken,
      };
      await using world = await enter({ cloud: "aws", env: () => Promise.resolve(env) });
      const { status: code, error } = await soon(world.stage.ask());
      assertEquals([code, /AWS_CONTAINER_CREDENTIALS_FULL_URI has to be/.test(error!.message)], [502, true], address);
    }
  });

  it("of EC2 is not called if AWS_EC2_METADATA_DISABLED says so", async () => {
    await using world = await enter(machines["EC2 metadata"]!, { env: { AWS_EC2_METADATA_DISABLED: "true" } });
    assertEquals([(await world.stage.ask()).status, world.services.server.calls], [502, 0]);
  });
});

describe("keys and credentials that are configured", () => {
  it("come before the identity of a machine, which is then not asked for", async () => {
    const keys = { AWS_ACCESS_KEY_ID: "AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY: "canary-secret-0123456789" };
    await using world = await enter(machines["EC2 metadata"]!, { env: keys });
    assertEquals((await world.stage.ask()).text, "Hello");
    assertMatch(world.stage.upstreams.a!.requests[0]!.headers.authorization!, /Credential=AKIAEXAMPLE\//);
    await using other = await enter(machines["Azure machine"]!, { entry: { api_key: "key-0123456789" } });
    await other.stage.ask();
    assertEquals(other.stage.upstreams.a!.requests[0]!.headers["api-key"], "key-0123456789");
    assertEquals([world.services.server.calls, other.services.server.calls], [0, 0]);
  });

  it("are not looked for on a machine that announces nothing, unless auth.method is ambient", async () => {
    const silent: Machine = { cloud: "aws", env: () => Promise.resolve({}) };
    await using world = await enter(silent);
    assertEquals([(await world.stage.ask()).status, world.stage.upstreams.a!.calls], [502, 0]);
    await using asked = await enter(silent, {
      entry: { auth: { method: "ambient" } },
      env: { AWS_EC2_METADATA_DISABLED: "true" },
    });
    const traces = listTraces(asked.stage);
    await asked.stage.ask();
    assertMatch(JSON.stringify(traces), /EC2 metadata service is disabled by AWS_EC2_METADATA_DISABLED/);
  });

  it("of callers are never replaced by the identity of the machine", async () => {
    for (const name of ["EC2 metadata", "Google metadata", "Azure machine"]) {
      await using world = await enter(machines[name]!, {
        entry: { credentials: "header" },
        config: { proxy: { auth: { tokens: [{ token: "token-0123456789", name: "app", byok: true }] } } },
      });
      const { stage, services } = world;
      const authorization = "Bearer token-0123456789";
      const type = { "content-type": "application/json" };
      const own = { ...type, authorization, "x-provider-key": "own-key-0123456789" };
      assertEquals((await stage.ask({}, { headers: own })).text, "Hello", name);
      assertFalse((await stage.ask({}, { headers: { ...type, authorization } })).status === 200);
      const [sent] = stage.upstreams.a!.requests;
      const { authorization: bearer, "api-key": key, "x-goog-api-key": googleKey } = sent!.headers;
      assertEquals((key ?? googleKey ?? bearer)?.replace("Bearer ", ""), "own-key-0123456789");
      assertEquals([stage.upstreams.a!.calls, services.server.calls], [1, 0]);
    }
  });

  it("that are missing are reported at the start, with what to set", async () => {
    const traces: string[] = [];
    const trace = ({ message }: { readonly message: string }) => void traces.push(message);
    await using _ = await startTestProxy({
      env: {},
      upstreams: {},
      sinks: { "t.sink.v1": { emit() {}, trace, flush: () => Promise.resolve() } },
      config: {
        providers: { a: { connector: "azure.openai.v1", config: { endpoint: "acme" } } },
        models: { a: { provider: "a", capabilities: ["chat-completion"] } },
        pools: { chat: { models: ["a"] } },
        observability: { tracing: { connector: "t.sink.v1" } },
      },
    });
    assertMatch(traces.join(), /"a" has no credentials: set "api_key" or "auth"\. .* set "auth\.method" to "ambient"/);
  });
});
