/** Queues of pools: malformed settings are problems, those that cannot act as meant are warnings, each with its path. */
import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { validate } from "../../src/config/build/validate.ts";
import { ConfigError } from "../../mod.ts";
import { type Case, common, known, listWarnings, pool } from "./_contradictions.ts";

const endless = { "acme.llm.v1": {}, "zeta.api.v1": {} };
const unlimited = { fast: { provider: "acme.llm.v1" }, slow: { provider: "zeta.api.v1" } };
const noLimits = (entry: object, more: object = {}) => ({
  providers: endless,
  models: unlimited,
  pools: { mine: { models: ["fast", "slow"], ...entry } },
  ...more,
});
const nothing = 'none of its models has "limits": requests wait only for limits that providers report';
const client = { token: "token-of-the-app-0123456789", name: "app", priority: 3 };

describe("A queue", () => {
  const warned: readonly Case[] = [
    [pool({})],
    [pool({ queue: {} })],
    [common({ queue: {} })],
    [noLimits({ queue: {} }), `pools.mine.queue: ${nothing}`],
    [
      { ...noLimits({}), pools: { "*": { queue: {} }, mine: { models: ["fast", "slow"] } } },
      "pools.*.queue: " + nothing,
    ],
    [noLimits({ queue: {}, rate_limit: { min_delta: "1s" } })],
    [pool({ queue: { max_wait: "10m" } })],
    [
      pool({ queue: { max_wait: "11m" } }),
      'pools.mine.queue.max_wait: "max_wait" (11m) is longer than "proxy.request_timeout" (10m), at which a request ends with 504',
    ],
    [
      pool({ queue: {} }, { proxy: { request_timeout: "20s" } }),
      'pools.mine.queue: "max_wait" (30s) is longer than "proxy.request_timeout" (20s), at which a request ends with 504',
    ],
    [
      pool({ queue: { max_length: 2_000 } }),
      'pools.mine.queue.max_length: "max_length" (2000) is more than "proxy.max_concurrent" (1000), which counts waiting requests, too',
    ],
    [pool({ queue: {} }, { proxy: { auth: { tokens: [client] } } })],
    [
      pool({}, { proxy: { auth: { tokens: [client] } } }),
      'proxy.auth.tokens[0].priority: has no effect: no pool has a "queue"',
    ],
  ];
  for (const [document, ...lines] of warned) {
    it(`is warned of: ${lines.join() || `nothing in ${JSON.stringify(document)}`}`, () => {
      assertEquals(listWarnings(document), lines);
    });
  }

  const priority = "expected an integer from 0 to 100";
  const problems: readonly (readonly [queue: object, line: string])[] = [
    [{ max_wait: "0s" }, 'max_wait: expected a duration above 0 such as "500ms" or "1h30m", found "0s"'],
    [{ max_wait: 5 }, "max_wait: "],
    [{ max_length: 0 }, "max_length: expected an integer of 1 or more, found 0"],
    [{ max_length: -1 }, "max_length: expected an integer of 1 or more, found -1"],
    [{ max_length: 1.5 }, "max_length: expected an integer of 1 or more, found 1.5"],
    [{ priority: -1 }, `priority: ${priority}, found -1`],
    [{ priority: 101 }, `priority: ${priority}, found 101`],
    [{ priority: "urgent" }, `priority: ${priority}, found "urgent"`],
    [{ max_waits: "1s" }, "max_waits: "],
  ];
  for (const [queue, line] of problems) {
    it(`is refused with ${JSON.stringify(queue)}`, () => {
      const error = assertThrows(() => validate(pool({ queue }), { knownConnectors: known }), ConfigError);
      const [{ path, message } = { path: "", message: "" }, ...others] = error.problems;
      assertEquals([`${path}: ${message}`.slice(0, `pools.mine.queue.${line}`.length), others], [
        `pools.mine.queue.${line}`,
        [],
      ]);
    });
  }

  it("is refused as a flag, and as a priority of a client out of range", () => {
    const failing = [pool({ queue: true }), pool({}, { proxy: { auth: { tokens: [{ ...client, priority: 101 }] } } })];
    const paths = failing.map((document) =>
      assertThrows(() => validate(document, { knownConnectors: known }), ConfigError).problems.map(({ path }) => path)
    );
    assertEquals(paths, [["pools.mine.queue"], ["proxy.auth.tokens[0].priority"]]);
  });
});
