/** Commands about a running proxy, and those that write and check a configuration. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { serverConnectors } from "../../../connectors/server.ts";
import { readFlags } from "../../../src/cli/args.ts";
import { chat } from "../../../src/cli/chat.ts";
import { check } from "../../../src/cli/check.ts";
import { clients } from "../../../src/cli/clients.ts";
import { init } from "../../../src/cli/init.ts";
import { models } from "../../../src/cli/models.ts";
import { pools } from "../../../src/cli/pools.ts";
import { proxy } from "../../../src/cli/proxy.ts";
import { secrets } from "../../../src/cli/secrets.ts";
import { status } from "../../../src/cli/status.ts";
import { isProvider } from "../../../src/config/settings/known.ts";
import type { Detection } from "../../../src/contracts/connector.ts";
import { sha256 } from "../../../src/util/sha256.ts";
import { Chance } from "../../simulation/chance.ts";
import { type CommandSetup, runCommand } from "../../support/_cli.ts";
import { assertOutput } from "../../support/_cli_outputs.ts";
import {
  adminToken,
  clientsConfig,
  type ClientsProxy,
  startClientsProxy,
  tempFolder,
} from "../../support/_runtime_clients.ts";
import { testConfig } from "../../support/proxy.ts";
import { json, ok, startUpstream, status as answerStatus, stream } from "../../support/upstream.ts";

const all = { proxy, init, check, chat, status, pools, models, clients, secrets };

type Run = (args: string | readonly string[], setup?: CommandSetup) => ReturnType<typeof runCommand>;

/** Runs a test with a proxy of one provider, and what runs commands against it. */
async function withProxy(test: (run: Run, proxy: ClientsProxy) => Promise<void>, script = ok()) {
  await using upstream = await startUpstream(script);
  await using folder = await tempFolder();
  const config = { ...clientsConfig(upstream, { path: `${folder.path}/state.json` }), budget: { daily_limit: 10 } };
  await using proxy = await startClientsProxy(config);
  const env = { MODELMESH_URL: proxy.url, MODELMESH_TOKEN: adminToken };
  await test(
    (args, setup) => runCommand(typeof args === "string" ? args.split(" ") : args, { env, now: Date.now(), ...setup }),
    proxy,
  );
}

describe("modelmesh clients", () => {
  it("makes, lists, changes, rotates and revokes clients, by name; a token alone is on standard output", async () => {
    await withProxy(async (run, proxy) => {
      const made = await run("clients create website --pool chat --daily-limit 5 --rpm 60 --expires 30d");
      assertEquals(made.code, 0, made.err);
      assertMatch(made.out, /^mm_[\w-]{43}\n$/);
      assertMatch(made.err, /"website" \(client_\S+\), which is not shown again:\n$/);
      assertEquals(await proxy.chat(made.out.trim()), 200);
      const listed = await run("clients list");
      assertMatch(
        listed.out,
        /^NAME +ID +TEAM +POOLS .*\nwebsite +client_\S+ +- +chat +\$5\.00 +- +60 +- +- +- +20\d\d-/,
      );
      assertEquals((await run("clients update website --monthly-limit 50 --rpm none")).code, 0);
      const [one] = assertOutput("clients", (await run("clients list --json")).out);
      assertEquals([one.budget, one.rpm], [{ daily_limit: 5, monthly_limit: 50 }, undefined]);
      const next = await run("clients rotate website");
      assertEquals([await proxy.chat(made.out.trim()), await proxy.chat(next.out.trim())], [401, 200]);
      const used = await run("clients usage website");
      assertMatch(used.out, /^DAY +POOL +REQUESTS .*\n\d{4}-\d\d-\d\d +chat +2 +20 +10 +\$2\.00\n$/);
      assertMatch(
        (await run("clients usage website --csv")).out,
        /^day,pool,requests,.*\r\n\d{4}-\d\d-\d\d,chat,2,20,10,2\r\n$/,
      );
      assertEquals((await run("clients revoke website")).out, 'Revoked "website"\n');
      assertEquals(await proxy.chat(next.out.trim()), 401);
      assertMatch((await run(`clients usage ${one.id}`)).out, / chat +2 /);
    });
  });

  it("gives clients budgets of other windows, which one per day does not replace by mistake", async () => {
    await withProxy(async (run, proxy) => {
      const limits = ["--budget", "1/1w@Europe/Berlin", "--budget", "30/rolling 30d"];
      const { out: token } = await run(["clients", "create", "website", ...limits]);
      assertEquals([await proxy.chat(token.trim()), await proxy.chat(token.trim())], [200, 429]);
      assertMatch((await run("clients list")).out, / LIMITS\n.* \$1\.00 1w Europe\/Berlin, \$30\.00 rolling 30d\n/);
      assertMatch((await run("clients update website --daily-limit 5")).err, /replace it with --budget/);
      assertEquals((await run("clients update website --budget 2/1w@Europe/Berlin")).code, 0);
      assertEquals([await proxy.chat(token.trim()), await proxy.chat(token.trim())], [200, 429]);
      assertMatch(
        (await run("clients update website --budget 1/1fortnight")).err,
        /budget\[0\]\.window: expected "1h"/,
      );
      assertEquals((await run("clients update website --budget none")).code, 0);
      assertEquals(await proxy.chat(token.trim()), 200);
    });
  });

  it("gives clients models of their own", async () => {
    await withProxy(async (run, proxy) => {
      const { out: token } = await run("clients create website --model a");
      assertEquals([await proxy.chat(token.trim(), "a"), await proxy.chat(token.trim(), "chat")], [200, 200]);
      assertMatch((await run("clients list")).out, / MODELS\n.* a\n/);
      assertMatch((await run("clients update website --model b")).err, /models\[0\]: no model "b"/);
      assertEquals((await run("clients update website --model none")).code, 0);
    });
  });

  it("rotates with a grace time, and takes the hash of a token that exists already", async () => {
    await withProxy(async (run, proxy) => {
      const own = "sk-of-another-gateway";
      const moved = await run([
        "clients",
        "create",
        "moved",
        "--token-hash",
        sha256(own),
        "--notes",
        "From the old one",
      ]);
      assertEquals([moved.code, moved.out], [0, ""]);
      assertMatch(moved.err, /^"moved" \(client_\S+\) has the token of that hash\n$/);
      const rotated = await run("clients rotate moved --grace 24h");
      assertMatch(rotated.err, /^The previous token is accepted until 20\d\d-\S+Z\nThe token of "moved"/);
      assertEquals([await proxy.chat(own), await proxy.chat(rotated.out.trim())], [200, 200]);
      const [listed] = assertOutput("clients", (await run("clients list --json")).out);
      assertEquals([listed.notes, typeof listed.previous_token_ends_at], ["From the old one", "string"]);
      assertEquals((await run("clients rotate moved")).code, 0);
      assertEquals([await proxy.chat(own), await proxy.chat(rotated.out.trim())], [401, 401]);
    });
  });

  it("prints JSON of one shape for each action", async () => {
    await withProxy(async (run) => {
      const { token } = assertOutput("client", (await run("clients create app --json")).out);
      assertMatch(token, /^mm_/);
      assertEquals(assertOutput("client", (await run("clients update app --rpm 5 --json")).out).token, undefined);
      assertOutput("client", (await run("clients rotate app --json")).out);
      assertOutput("usage", (await run("clients usage app --json")).out);
      assertOutput("revoked", (await run("clients revoke app --json")).out);
      assertEquals(assertOutput("clients", (await run("clients list --json")).out), []);
    });
  });

  it("says what the proxy says, and what to do", async () => {
    await withProxy(async (run) => {
      await run("clients create app");
      const rows: [args: string, message: RegExp][] = [
        ["clients create app", /^The proxy responded: Another client is called "app"/],
        ["clients create x --pool chta", /pools\[0\]: no pool "chta", did you mean "chat"/],
        ["clients create x --expires 2020-01-01", /in the past/],
        ["clients rotate other", /^There is no client "other"\. List clients with "modelmesh clients list"/],
        ["clients list --token wrong", /not accepted. Pass the proxy's token with --token or MODELMESH_TOKEN/],
        ["clients list --token t-team-0123456789", /for administrators.*Pass an administrator's token/],
        [
          "clients list --url http://127.0.0.1:9",
          /^No proxy is listening at http:\/\/127\.0\.0\.1:9: start one with "modelmesh/,
        ],
      ];
      for (const [args, message] of rows) {
        const { code, out, err } = await run(args);
        assertEquals([code, out], [1, ""], args);
        assertMatch(err, message, args);
        assertOutput("failure", (await run(`${args} --json`)).out);
      }
    });
  });
});

describe("modelmesh models and pools", () => {
  it("list what a running proxy has", async () => {
    await withProxy(async (run) => {
      assertMatch((await run("pools")).out, /^POOL +STATUS .*\nchat +active +1 +0 /);
      assertMatch((await run("models")).out, /^MODEL +STATUS .*\na +active +a +chat-completion\n$/);
      assertOutput("pools", (await run("pools --json")).out);
      const listed = assertOutput("models", (await run("models --json")).out);
      assertEquals(listed.map(({ name }: { name: string }) => name), ["a"]);
      assertEquals(assertOutput("models", (await run("models --capability embeddings --json")).out), []);
    });
  });
});

describe("modelmesh chat", () => {
  it("prints the response of a running proxy on standard output as it arrives, and its model on standard error", async () => {
    await withProxy(async (run) => {
      const { code, out, err } = await run(["chat", "Say something"]);
      assertEquals([code, out], [0, "Hello world\n"], err);
      assertMatch(err, /^Served by a of a \(pool chat, .*\d+ ms\)\n$/);
    }, stream());
  });

  it("answers in this process by a configuration, also one that asks for tokens", async () => {
    await using upstream = await startUpstream(stream({ text: "From here\u001b[2J" }));
    const files = { "mesh.json": JSON.stringify(clientsConfig(upstream, undefined)) };
    const said = await runCommand(["chat", "Hi", "--config", "mesh.json", "--system", "Be brief"], { files });
    assertEquals([said.code, said.out], [0, "From here\u001b[2J\n"], said.err);
    const shown = await runCommand(["chat", "Hi", "--config", "mesh.json"], { files, isTerminal: true });
    assertStringIncludes(shown.out, "From here\\u001b[2J", "an answer steers no terminal");
    const { messages } = upstream.requests[0]!.json();
    assertEquals(messages, [{ role: "system", content: "Be brief" }, { role: "user", content: "Hi" }]);
  });

  it("reads the prompt from standard input, and prints JSON of the non-streaming response", async () => {
    await withProxy(async (run) => {
      const { code, out, err } = await run("chat - --json", { input: "From a pipe" });
      assertEquals([code, err], [0, ""]);
      const { content, model, pool, cost_usd } = assertOutput("chat", out);
      assertEquals([content, model, pool, cost_usd], ["Hello world", "a", "chat", 1]);
    });
  });

  it("fails where the response breaks off, and where nothing can answer", async () => {
    await withProxy(async (run) => {
      const { code, err } = await run(["chat", "Hi"]);
      assertEquals(code, 1);
      assertMatch(err, /^The proxy responded: /);
    }, answerStatus(500));
    const { code, err } = await runCommand(["chat", "Hi"]);
    assertEquals(code, 1);
    assertStringIncludes(err, "No providers were detected");
  });
});

/** The variables by which a provider is detected, as the environment has them. */
function createVariables({ keys, host = [], requires = {} }: Detection): Readonly<Record<string, string>> {
  const key = keys.slice(0, 1).map((name) => [name, `key-of-${name}`] as const);
  const address = host.slice(0, 1).map((name) => [name, "127.0.0.1"] as const);
  const required = Object.entries(requires).map(([setting, [name = ""]]) =>
    [name, setting === "endpoint" ? "https://mesh.openai.azure.com" : "eastus"] as const
  );
  return Object.fromEntries([...key, ...address, ...required]);
}

describe("modelmesh init", () => {
  const keys = {
    OPENAI_API_KEY: "sk-0123456789abcdef0123",
    ANTHROPIC_API_KEY: "sk-ant-0123456789abcdef",
    OLLAMA_HOST: "127.0.0.1",
  };

  /** Writes a configuration in an environment, and checks it in there: what it has. */
  async function written(env: Readonly<Record<string, string>>, checkedIn = env): Promise<string> {
    const { code, out, err, files } = await runCommand(["init"], { env });
    const about = Object.keys(env).join();
    assertEquals(code, 0, `${about}: ${err}`);
    assertStringIncludes(out, "Wrote modelmesh.yaml. ");
    const text = files.get("modelmesh.yaml")!;
    for (const value of Object.values(env)) if (value.length > 15) assertFalse(text.includes(value), about);
    assert(text.split("\n").filter((line) => line.includes("#")).length > 15, text);
    assert(text.split("\n").every((line) => line.length <= 130), text);
    const given = { files: { "modelmesh.yaml": text }, env: checkedIn };
    const checked = await runCommand(["check", "modelmesh.yaml", "--secrets"], given);
    assertEquals([checked.code, checked.err], [0, ""], `${about}: ${text}`);
    return text;
  }

  it("writes a commented configuration for the providers detected, which validates, and no key", async () => {
    const text = await written(keys);
    for (const id of ["openai.llm.v1", "anthropic.claude.v1", "ollama.local.v1"]) {
      assertStringIncludes(text, `  ${id}:`);
    }
    await written({}, keys); // the one to fill in
  });

  it("validates for each provider there is alone, for all together, and for any of them together", async () => {
    const each = serverConnectors.filter(isProvider).flatMap(({ detection }) =>
      detection === undefined ? [] : [createVariables(detection)]
    );
    assert(each.length > 25);
    for (const env of each) await written(env);
    await written(Object.assign({}, ...each));
    const chance = new Chance(7, "init");
    for (let time = 0; time < 40; time++) {
      const some = each.filter(() => chance.whole(0, 3) === 0);
      await written(Object.assign({}, keys, ...some));
    }
  });

  it("keeps a file that is there, unless --force is given", async () => {
    const files = { "modelmesh.yaml": "mine" };
    const kept = await runCommand(["init"], { env: keys, files });
    assertEquals([kept.code, kept.files.get("modelmesh.yaml")], [1, "mine"]);
    assertStringIncludes(kept.err, "--force");
    const written = await runCommand(["init", "--force", "--json"], { env: keys, files });
    const { providers, pools } = assertOutput("init", written.out);
    assertEquals(providers, ["openai.llm.v1", "anthropic.claude.v1", "ollama.local.v1"]);
    assert(pools.includes("chat") && pools.includes("embeddings"));
    assert(written.files.get("modelmesh.yaml")!.includes("secrets:OPENAI_API_KEY"));
  });
});

describe("modelmesh check --probe", () => {
  it("asks each provider once, and fails when one does not answer", async () => {
    await using good = await startUpstream(json({ object: "list", data: [{ id: "x" }, { id: "y" }] }));
    await using bad = await startUpstream(answerStatus(401));
    const files = (urls: Record<string, string>) => ({ "mesh.json": JSON.stringify(testConfig({ upstreams: urls })) });
    const well = await runCommand(["check", "mesh.json", "--probe"], { files: files({ good: good.url }) });
    assertEquals(well.code, 0, well.err);
    assertMatch(well.out, /is valid: .*\n {2}good: ok, 2 models \(\d+ ms\)\n$/);
    assertEquals(good.requests.length, 1);
    const both = files({ good: good.url, bad: bad.url });
    const ill = await runCommand(["check", "mesh.json", "--probe", "--json"], { files: both });
    assertEquals(ill.code, 1);
    const { ok, probes } = assertOutput("check", ill.out);
    assertEquals([ok, probes.map((probe: { ok: boolean; status?: number }) => [probe.ok, probe.status])], [
      false,
      [[true, undefined], [false, 401]],
    ]);
    const shown = await runCommand(["check", "mesh.json", "--probe"], { files: both, isTerminal: true });
    assertStringIncludes(shown.err, "Probed 2 of 2 providers");
    assertMatch(shown.out, /\n {2}bad: FAILED with 401: /);
  });
});

describe("Help", () => {
  it("of every command has its options and examples that it understands", async () => {
    for (const [name, command] of Object.entries(all)) {
      const { out } = await runCommand([name, "--help"]);
      assertEquals((await runCommand(["help", name])).out, out);
      for (const option of [...command.values, ...command.switches ?? [], "json", "env-file", "help"]) {
        assertStringIncludes(out, `--${option}`, name);
      }
      assert(out.split("\n").every((line) => line.length <= 130), out);
      const examples = out.slice(out.indexOf("\nExamples:\n")).split("\n").filter((line) =>
        line.startsWith("  modelmesh ")
      );
      assert(examples.length >= 2, name);
      for (const example of examples) {
        const [, typed, ...args] = example.trim().match(/"[^"]*"|\S+/g)!;
        assertEquals(typed, name);
        readFlags(command, args.map((arg) => arg.replaceAll('"', "")));
      }
    }
  });

  it("lists every command", async () => {
    const { out } = await runCommand(["help"]);
    for (const name of Object.keys(all)) assertMatch(out, new RegExp(`\\n  ${name} +\\S`));
  });
});
