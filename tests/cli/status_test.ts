/** `modelmesh status`, once and again and again. */
import { assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { serve } from "../../proxy.ts";
import { statusText } from "../../src/cli/status_text.ts";
import type { ModelStatus } from "../../src/registry/status.ts";
import { runCommand, startCommand } from "../support/_cli.ts";
import { assertOutput } from "../support/_cli_outputs.ts";
import { happens, until } from "../support/patience.ts";
import { portForRestarts } from "../support/ports.ts";
import { testConfig } from "../support/proxy.ts";
import { adminToken, clientsConfig, startClientsProxy } from "../support/_runtime_clients.ts";
import { ok, startUpstream, status as answerStatus } from "../support/upstream.ts";

describe("modelmesh status", () => {
  it("shows models with state, reason and return, budgets, clients and the last decisions", async () => {
    await using good = await startUpstream(ok());
    await using bad = await startUpstream(answerStatus(429, { headers: { "retry-after": "300" } }));
    await using proxy = await startClientsProxy(testConfig({
      upstreams: { bad: bad.url, good: good.url },
      config: {
        models: Object.fromEntries(["bad", "good"].map((provider) => [provider, {
          provider,
          capabilities: ["chat-completion"],
          pricing: { input: 0, output: 0, per_request: 0.5 },
        }])),
        budget: { daily_limit: 2 },
        proxy: { auth: { tokens: [adminToken, { token: "t-team-0123456789", name: "team", rpm: 10 }] } },
      },
    }));
    assertEquals(await proxy.chat("t-team-0123456789"), 200);
    const env = { MODELMESH_URL: proxy.url, MODELMESH_TOKEN: adminToken };
    const now = Date.now();
    const { code, out, err } = await runCommand(["status"], { env, now });
    assertEquals([code, err], [0, ""]);
    assertMatch(
      out,
      /^ModelMesh \d\S* at http:\/\/127\.0\.0\.1:\d+, up \d+\S*( \S+)?, 0 requests in flight\n\nPools\n/,
    );
    assertMatch(out, /\n {2}chat {2}ok {2}1 of 2 models active {2}\S+\n/);
    assertMatch(
      out,
      /\n {4}bad {3}standby {2}bad: rate_limited, back in \dm( \d+s)? \(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)\n/,
    );
    assertMatch(out, /\n {4}good {2}active {3}good\n/);
    assertMatch(out, /\nBudgets\n.*\n {2}all +day +\$0\.50 +\$2\.00 +25 % +in /);
    assertMatch(out, /\nClients\n.*\n {2}team +1 +10 +5 +\$0\.50\n/);
    assertMatch(out, /\n {2}\d\d:\d\d:\d\d chat: bad \S+ -> good \S+ \(200, \d+ ms, \$0\.50, by team\)\n/);
    assertEquals(await proxy.chat("t-team-0123456789"), 200);
    const later = await runCommand(["status"], { env, now });
    assertMatch(later.out, /\n {2}\d\d:\d\d:\d\d budget all: \$1\.00 of \$2\.00 spent this day, \$1\.00 left\n/);
    const value = assertOutput("status", (await runCommand(["status", "--json"], { env })).out);
    assertEquals(value.recent.at(-1).type, "routing");
    const colored = await runCommand(["status"], { env, isTerminal: true });
    assertStringIncludes(colored.out, "\x1b[31mstandby\x1b[0m");
    assertFalse(
      (await runCommand(["status"], { env: { ...env, NO_COLOR: "1" }, isTerminal: true })).out.includes("\x1b["),
    );
  });
});

describe("statusText()", () => {
  const active = (name: string, provider = "acme") => ({ name, provider, status: "active" } as const);
  const standby = (name: string) =>
    ({
      name,
      provider: "acme",
      status: "standby",
      reason: "rate_limited",
      retryAt: "2026-01-01T00:01:00.000Z",
    }) as const;
  const pool = (...models: ModelStatus[]) => ({
    capability: null,
    strategy: "mesh.round-robin.v1",
    status: "ok",
    active: models.filter(({ status }) => status === "active").length,
    standby: 0,
    total: models.length,
    models,
  } as const);
  const plain = (text: string) => text;
  const drawing = {
    paint: { good: plain, bad: plain, dim: plain, strong: plain },
    url: "http://127.0.0.1:8080",
    now: Date.parse("2026-01-01T00:00:00Z"),
  };
  const status = {
    version: "1.0.0",
    uptime_seconds: 1,
    providers: [],
    budgets: [],
    in_flight: 0,
    pools: {},
    recent: [],
  };
  const show = (more: Partial<Parameters<typeof statusText>[0]>) => statusText({ ...status, ...more }, drawing);

  it("shows pools with the same models together, and names a model in one state once", () => {
    const text = show({
      pools: {
        chat: pool(active("large"), active("small")),
        code: pool(active("large"), active("small")),
        vision: pool(active("large"), active("eye")),
        slow: pool(standby("large"), active("small")),
      },
    });
    const [, pools] = text.split("Pools\n");
    assertEquals(
      pools,
      `  chat, code  ok  2 of 2 models active  mesh.round-robin.v1
    large  active   acme
    small  active   acme
  vision  ok  2 of 2 models active  mesh.round-robin.v1
    eye    active   acme
    1 model as above
  slow  ok  1 of 2 models active  mesh.round-robin.v1
    large  standby  acme: rate_limited, back in 1m (2026-01-01 00:01:00 UTC)
    1 model as above
`,
    );
  });

  it("names the models of a rotation once, and what is left of a budget", () => {
    const base = { type: "event", id: "1", timestamp: "2026-01-01T00:00:00.000Z", provider: "acme" } as const;
    const change = { pool: "chat", model: "small", from: "large", to: "small", reason: "server", metadata: {} };
    const standby = { ...change, model: "large", from: "active", to: "standby", reason: "retry_limit" };
    const spent = { scope: "pool", id: "chat", window: "month", spent: 4, limit: 5, window_end: "" };
    const text = show({
      recent: [
        { ...base, ...change, event: "rotation" },
        { ...base, ...standby, event: "deactivation" },
        { ...base, event: "budget", reason: "alert_at", metadata: spent },
      ],
    });
    assertStringIncludes(text, "00:00:00 rotation chat: large -> small (server)\n");
    assertStringIncludes(text, "00:00:00 deactivation chat: large active -> standby (retry_limit)\n");
    assertStringIncludes(text, "00:00:00 budget pool chat: $4.00 of $5.00 spent this month, $1.00 left\n");
  });
});

describe("modelmesh status --watch", () => {
  const config = () => clientsConfig({ url: "http://127.0.0.1:9/v1" }, undefined);
  const shown = ({ shell }: ReturnType<typeof startCommand>) => shell.out.split("\n").length - 1;

  it("shows it again and again until a signal ends it", async () => {
    await using proxy = await startClientsProxy(config());
    const env = { MODELMESH_URL: proxy.url, MODELMESH_TOKEN: adminToken };
    for (const isTerminal of [false, true]) {
      const watching = startCommand(["status", "--watch", "--json"], { env, isTerminal });
      await until(() => shown(watching) >= 3, "it shows more");
      watching.shell.signal("SIGINT");
      assertEquals(await happens("it ends", watching.code), 0);
      for (const line of watching.shell.out.trimEnd().split("\n")) assertOutput("status", `${line}\n`);
    }
  });

  it("waits for a proxy that is restarted, says so once, and shows it again", async () => {
    const port = await portForRestarts();
    const first = await startClientsProxy(config(), port);
    const env = { MODELMESH_URL: first.url, MODELMESH_TOKEN: adminToken };
    const watching = startCommand(["status", "--watch", "--json"], { env });
    await until(() => shown(watching) > 0, "it shows the proxy");
    await first[Symbol.asyncDispose]();
    await until(() => watching.shell.err !== "", "it says that the proxy is away");
    const before = shown(watching);
    const again = await serve({ config: config(), port });
    await until(() => shown(watching) > before, "it shows the proxy again");
    watching.shell.signal("SIGINT");
    assertEquals(await happens("it ends", watching.code), 0);
    assertMatch(watching.shell.err, /^[^\n]+\. Waiting for it\n$/);
    await again.stop();
  });

  it("ends at once by a signal while the proxy keeps it waiting", async () => {
    await using silent = await startUpstream({ play: () => new Promise(() => {}) });
    const watching = startCommand(["status", "--watch"], { env: { MODELMESH_URL: silent.url } });
    await until(() => silent.calls === 1, "it has asked");
    watching.shell.signal("SIGINT");
    assertEquals(await happens("it ends", watching.code), 0);
    assertEquals([watching.shell.err, watching.clock.pending], ["", 0]);
  });

  it("fails at once where no proxy answers from the start", async () => {
    const { code, err } = await runCommand(["status", "--watch", "--url", "http://127.0.0.1:9"]);
    assertEquals(code, 1);
    assertMatch(err, /^No proxy is listening at http:\/\/127\.0\.0\.1:9: start one with/);
  });
});
