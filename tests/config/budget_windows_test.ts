/** Budgets as lists of limits in documents. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { validate } from "../../src/config/build/validate.ts";
import { ConfigError } from "../../src/errors.ts";
import { readLimits } from "../support/_budgets.ts";
import { known } from "./_known.ts";

function read(document: unknown) {
  return validate(document, { knownConnectors: known });
}

/** The problems of a budget, as `path: message`. */
function findProblems(budget: unknown): readonly string[] {
  try {
    read({ budget });
    return [];
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error;
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

describe("A list of limits", () => {
  it("has windows of the calendar in a time zone, and rolling ones, in whole nano-dollars", () => {
    const { budget, hasLimitLists } = read({
      budget: [
        { limit: 0.5, window: "1h" },
        { limit: 2, window: "1d", timezone: "Europe/Berlin", alert_at: [1, 0.5] },
        { limit: 10, window: "1w", timezone: "America/New_York" },
        { limit: 30, window: "rolling 30d" },
      ],
    });
    assertEquals(budget, [
      { id: "1h utc", window: "1h", limitNanoUsd: 500_000_000 },
      { id: "1d europe/berlin", window: "1d", timezone: "Europe/Berlin", limitNanoUsd: 2e9, alertAt: [0.5, 1] },
      { id: "1w america/new_york", window: "1w", timezone: "America/New_York", limitNanoUsd: 1e10 },
      { id: "rolling 720h", window: "rolling 30d", limitNanoUsd: 3e10 },
    ]);
    assertEquals(hasLimitLists, true);
  });

  it("shares the sums of daily_limit and monthly_limit where the window is the same", () => {
    const { budget } = read({
      budget: [{ limit: 1, window: "1d" }, { limit: 9, window: "1mo", timezone: "Etc/UTC" }],
    });
    assertEquals(readLimits(budget), { day: 1e9, month: 9e9 });
  });

  it("of a pool is merged limit by limit with that of all pools, whatever their forms", () => {
    const { pools, defaultBudget } = read({
      pools: {
        "*": { budget: { daily_limit: 1, monthly_limit: 9, alert_at: [0.9] } },
        chat: { capability: "chat-completion", budget: [{ limit: 2, window: "1d" }, { limit: 5, window: "1w" }] },
      },
    });
    const alertAt = [0.9];
    assertEquals(pools.get("chat")?.budget, [
      { id: "day", window: "1d", limitNanoUsd: 2e9, alertAt },
      { id: "1w utc", window: "1w", limitNanoUsd: 5e9, alertAt },
      { id: "month", window: "month", limitNanoUsd: 9e9, alertAt },
    ]);
    assertEquals(readLimits(defaultBudget), { day: 1e9, month: 9e9 });
  });

  it("is accepted wherever a budget is", () => {
    const budget = [{ limit: 1, window: "rolling 24h" }];
    const settings = read({
      providers: { "acme.llm.v1": { budget } },
      pools: { chat: { capability: "chat-completion", budget } },
      proxy: { auth: { tokens: [{ token: "token-0123456789-abc", name: "app", budget }] } },
    });
    const limits = [
      settings.providers.get("acme.llm.v1")?.budget,
      settings.pools.get("chat")?.budget,
      settings.proxy?.clients[0]?.budget,
    ];
    assertEquals(limits.map(readLimits), Array(3).fill({ "rolling 24h": 1e9 }));
    assertEquals(settings.hasLimitLists, true);
    assertEquals(read({ budget: { daily_limit: 1 } }).hasLimitLists, false);
  });

  const window = (text: string, more = {}) => [{ limit: 1, window: text, ...more }];
  const hint = 'expected "1h", "1d", "1w", "1mo", or a rolling window such as "rolling 30d"';
  const rolling = 'expected a rolling window in hours or days, such as "rolling 30d"';
  const length = "expected a rolling window of 1h to 366d";
  const zone = 'expected an IANA time zone such as "Europe/Berlin"';
  const wrong: readonly (readonly [budget: unknown, problem: string])[] = [
    [window("2w"), `budget[0].window: ${hint}, found "2w"`],
    [window("1day"), `budget[0].window: ${hint}, found "1day"`],
    [window("rolling"), `budget[0].window: ${hint}, found "rolling"`],
    [window("rolling 1mo"), `budget[0].window: ${rolling}, found "rolling 1mo"`],
    [window("rolling 2w"), `budget[0].window: ${rolling}, found "rolling 2w"`],
    [window("rolling 0d"), `budget[0].window: ${length}, found "rolling 0d"`],
    [window("rolling 367d"), `budget[0].window: ${length}, found "rolling 367d"`],
    [window("1d", { timezone: "Mars/Olympus" }), `budget[0].timezone: ${zone}, found "Mars/Olympus"`],
    [window("1d", { timezone: "+02:00" }), `budget[0].timezone: ${zone}, found "+02:00"`],
    [
      window("rolling 7d", { timezone: "UTC" }),
      'budget[0].timezone: has no meaning: a rolling window ("rolling 7d") does not follow the calendar',
    ],
    [[{ limit: -1, window: "1d" }], "budget[0].limit: expected a number of 0 or more, found -1"],
    [[{ window: "1d" }], "budget[0].limit: missing: this key is required"],
    [[{ limit: 1 }], "budget[0].window: missing: this key is required"],
    [[], "budget: expected at least one item, found an empty list"],
    [[...window("1d"), ...window("1d")], 'budget[1].window: is the same window as that of "budget[0]"'],
    [
      [...window("1d"), ...window("1d", { timezone: "UTC" })],
      'budget[1].window: is the same window as that of "budget[0]"',
    ],
    [
      [...window("rolling 24h"), ...window("rolling 1d")],
      'budget[1].window: is the same window as that of "budget[0]"',
    ],
    [
      [...window("1w", { timezone: "Europe/Berlin" }), ...window("1w", { timezone: "europe/berlin" })],
      'budget[1].window: is the same window as that of "budget[0]"',
    ],
    [
      Array.from({ length: 11 }, (_, hours) => ({ limit: 1, window: `rolling ${hours + 1}h` })),
      "budget: expected up to 10 limits, found 11",
    ],
    ["5", "budget: expected an object, found a string"],
    [{ windows: window("1d") }, 'budget.windows: unknown key; allowed: "daily_limit", "monthly_limit", "alert_at"'],
  ];
  for (const [budget, problem] of wrong) {
    it(`${JSON.stringify(budget)} is a problem`, () => assertEquals(findProblems(budget), [problem]));
  }

  it("may be left out, as a section that is empty", () => {
    assertEquals(findProblems(null), []);
    assertEquals(read({ budget: null }).budget, undefined);
  });

  it("whose shorter window may spend more than a longer one is warned of, and a limit of 0", () => {
    const warn = (budget: unknown) => read({ budget }).warnings.map(({ path, message }) => `${path}: ${message}`);
    assertEquals(warn([{ limit: 9, window: "1d" }, { limit: 5, window: "1w" }]), [
      'budget[0].limit: the limit of "1d" (9) is more than the limit of "1w" (5)',
    ]);
    assertEquals(warn([{ limit: 5, window: "rolling 30d" }, { limit: 0, window: "1h" }]), [
      "budget[1].limit: is 0: nothing may be spent",
    ]);
    assertEquals(warn({ daily_limit: 9, monthly_limit: 5 }), [
      'budget.daily_limit: "daily_limit" (9) is more than "monthly_limit" (5)',
    ]);
  });
});
