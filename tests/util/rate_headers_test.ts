import { assertEquals } from "@std/assert";
import { seededRandom } from "../../src/runtime/test.ts";
import { hasResetDates, type RateReading, readRateHeaders } from "../../src/util/rate_headers.ts";

const now = Date.parse("2026-01-01T00:00:00Z");
const dayMs = 24 * 60 * 60 * 1000;

type Case = readonly [headers: Record<string, string>, expected: RateReading | undefined];

function check(cases: readonly Case[]): void {
  for (const [headers, expected] of cases) {
    assertEquals(readRateHeaders(new Headers(headers), now), expected, JSON.stringify(headers));
  }
}

Deno.test("readRateHeaders reads OpenAI's and Groq's headers", () => {
  const openAi = (limit: string, remaining: string, reset: string) => ({
    "x-ratelimit-limit-requests": limit,
    "x-ratelimit-remaining-requests": remaining,
    "x-ratelimit-reset-requests": reset,
  });
  check([
    [{
      ...openAi("60", "59", "1s"),
      "x-ratelimit-limit-tokens": "150000",
      "x-ratelimit-remaining-tokens": "149984",
      "x-ratelimit-reset-tokens": "6m0s",
    }, {
      requests: { limit: 60, remaining: 59, resetMs: 1000 },
      tokens: { limit: 150_000, remaining: 149_984, resetMs: 360_000 },
    }],
    [openAi("14400", "14370", "2m59.56s"), { requests: { limit: 14_400, remaining: 14_370, resetMs: 179_560 } }],
    [openAi("10", "0", "88ms"), { requests: { limit: 10, remaining: 0, resetMs: 88 } }],
    [openAi("10", "0", "1m30.5s"), { requests: { limit: 10, remaining: 0, resetMs: 90_500 } }],
    [openAi("10", "0", "1h2m3s"), { requests: { limit: 10, remaining: 0, resetMs: 3_723_000 } }],
    [openAi("10", "0", "7.66"), { requests: { limit: 10, remaining: 0, resetMs: 7660 } }],
    [openAi("10", "0", "0s"), { requests: { limit: 10, remaining: 0, resetMs: 0 } }],
    [openAi("10", "0", "0"), { requests: { limit: 10, remaining: 0, resetMs: 0 } }],
    [openAi("10", "0", "-3s"), { requests: { limit: 10, remaining: 0, resetMs: 0 } }],
    [openAi("10", "0", "-soon"), { requests: { limit: 10, remaining: 0 } }],
    [openAi("10", "0", "9999999h"), { requests: { limit: 10, remaining: 0, resetMs: dayMs } }],
    [{ "x-ratelimit-remaining-tokens": "7" }, { tokens: { remaining: 7 } }],
    [{ "x-ratelimit-remaining-requests": "3" }, { requests: { remaining: 3 } }],
    [openAi("9007199254740", "4294967296", "30s"), {
      requests: { limit: 9_007_199_254_740, remaining: 4_294_967_296, resetMs: 30_000 },
    }],
  ]);
});

Deno.test("readRateHeaders reads headers that name their window, of several windows the tightest", () => {
  const tokens = (limit: string, remaining: string, window = "minute") => ({
    [`x-ratelimit-limit-tokens-${window}`]: limit,
    [`x-ratelimit-remaining-tokens-${window}`]: remaining,
  });
  check([
    [{
      ...tokens("5000000", "4999911"),
      "x-ratelimit-tokens-query-cost": "52",
      "x-ratelimit-limit-req-minute": "720",
      "x-ratelimit-remaining-req-minute": "717",
    }, { requests: { limit: 720, remaining: 717 }, tokens: { limit: 5_000_000, remaining: 4_999_911 } }],
    [{
      ...tokens("60000", "59000"),
      "x-ratelimit-reset-tokens-minute": "12.5",
      "x-ratelimit-limit-requests-day": "14400",
      "x-ratelimit-remaining-requests-day": "14399",
      "x-ratelimit-reset-requests-day": "3600.25",
    }, {
      requests: { limit: 14_400, remaining: 14_399, resetMs: 3_600_250 },
      tokens: { limit: 60_000, remaining: 59_000, resetMs: 12_500 },
    }],
    [{ ...tokens("100", "90"), ...tokens("1000", "10", "day") }, { tokens: { limit: 1000, remaining: 10 } }],
    [tokens("x", "0"), { tokens: { remaining: 0 } }],
  ]);
});

Deno.test("readRateHeaders reads Anthropic's headers, of tokens the tightest share", () => {
  const prefix = "anthropic-ratelimit";
  const of = (kind: string, limit: number, remaining: number, reset = "2026-01-01T00:00:30Z") => ({
    [`${prefix}-${kind}-limit`]: `${limit}`,
    [`${prefix}-${kind}-remaining`]: `${remaining}`,
    [`${prefix}-${kind}-reset`]: reset,
  });
  const requests = of("requests", 50, 49);
  const requestsRead = { limit: 50, remaining: 49, resetMs: 30_000 };
  check([
    [requests, { requests: requestsRead }],
    [{ ...requests, ...of("tokens", 48_000, 24_000, "2026-01-01T00:00:12Z") }, {
      requests: requestsRead,
      tokens: { limit: 48_000, remaining: 24_000, resetMs: 12_000 },
    }],
    [{
      ...requests,
      ...of("tokens", 48_000, 24_000),
      ...of("input-tokens", 40_000, 39_000),
      ...of("output-tokens", 8000, 800, "2026-01-01T00:00:54Z"),
    }, { requests: requestsRead, tokens: { limit: 48_000, remaining: 4800, resetMs: 54_000 } }],
    [{ ...requests, ...of("input-tokens", 40_000, 10_000), ...of("output-tokens", 8000, 8000) }, {
      requests: requestsRead,
      tokens: { limit: 48_000, remaining: 12_000, resetMs: 30_000 },
    }],
    // The response's own clock decides, and a date that is past means now.
    [{ ...requests, date: "Thu, 01 Jan 2026 00:00:20 GMT" }, { requests: { ...requestsRead, resetMs: 10_000 } }],
    [of("requests", 50, 0, "2025-12-31T23:59:59Z"), { requests: { limit: 50, remaining: 0, resetMs: 0 } }],
    [{ ...requests, ...of("input-tokens", 100, 0, "2025-12-31T23:59:59Z"), ...of("output-tokens", 100, 50) }, {
      requests: requestsRead,
      tokens: { limit: 200, remaining: 100, resetMs: 30_000 },
    }],
    [of("requests", 50, 0, "2026-01-01T01:00:30+01:00"), { requests: { limit: 50, remaining: 0, resetMs: 30_000 } }],
    [of("requests", 50, 0, "soon"), { requests: { limit: 50, remaining: 0 } }],
  ]);
});

Deno.test("readRateHeaders reads the drafts of the IETF, of several policies the tightest", () => {
  const requests = (limit: number, remaining: number, resetMs: number) => ({ requests: { limit, remaining, resetMs } });
  check([
    [{ "ratelimit-limit": "100", "ratelimit-remaining": "50", "ratelimit-reset": "30" }, requests(100, 50, 30_000)],
    [
      { "ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "50", "ratelimit-reset": "30" },
      requests(100, 50, 30_000),
    ],
    [{ "ratelimit": '"default";r=50;t=30', "ratelimit-policy": '"default";q=100;w=60' }, requests(100, 50, 30_000)],
    [{ "ratelimit": '"default"; r=50 ; t=30' }, { requests: { remaining: 50, resetMs: 30_000 } }],
    [{
      "ratelimit": '"burst";r=90;t=1, "day";r=10;t=7200',
      "ratelimit-policy": '"day";q=1000;w=86400,"burst";q=100;w=60',
    }, requests(1000, 10, 7_200_000)],
    [{
      "ratelimit": '"bytes";r=1;t=5, "default";r=9;t=6',
      "ratelimit-policy": '"bytes";q=100;qu="content-bytes", "default";q=10',
    }, requests(10, 9, 6000)],
    [{ "ratelimit": "limit=100, remaining=50, reset=30" }, requests(100, 50, 30_000)],
  ]);
});

Deno.test("readRateHeaders reads plain x-ratelimit headers, whatever clock their reset is of", () => {
  const plain = (reset: string) => ({
    "x-ratelimit-limit": "20",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": reset,
  });
  const read = (resetMs?: number) => ({
    requests: { limit: 20, remaining: 0, ...(resetMs === undefined ? {} : { resetMs }) },
  });
  check([
    [plain(`${now + 45_000}`), read(45_000)],
    [plain(`${now / 1000 + 45}`), read(45_000)],
    [plain("45"), read(45_000)],
    [plain("0.5"), read(500)],
    [plain("2026-01-01T00:00:45Z"), read(45_000)],
    [plain(`${now / 1000 - 45}`), read(0)],
    [plain("0"), read(0)],
    [plain(`${now + 40 * dayMs}`), read(dayMs)],
    [{ ...plain(`${now + 45_000}`), date: "Thu, 01 Jan 2026 00:00:40 GMT" }, read(5000)],
  ]);
});

Deno.test("hasResetDates says which families state dates", () => {
  const cases: readonly (readonly [headers: Record<string, string>, expected: boolean])[] = [
    [{}, false],
    [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s" }, false],
    [{ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1s" }, false],
    [{ "anthropic-ratelimit-requests-remaining": "0" }, true],
    [{ "ratelimit": '"default";r=0;t=30' }, false],
    [{ "ratelimit-remaining": "0", "ratelimit-reset": "30" }, false],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1767290430" }, true],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1767290430000" }, true],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "2026-01-01T00:00:45Z" }, true],
  ];
  for (const [headers, expected] of cases) {
    assertEquals(hasResetDates(new Headers(headers)), expected, JSON.stringify(headers));
  }
});

Deno.test("readRateHeaders leaves out what makes no sense", () => {
  check([
    [{}, undefined],
    [{ "retry-after": "3", "content-type": "application/json" }, undefined],
    [{ "x-ratelimit-remaining-requests": "-1" }, undefined],
    [{ "x-ratelimit-remaining-requests": "many", "x-ratelimit-limit-requests": "1e3" }, undefined],
    [{ "x-ratelimit-remaining-requests": "0", "x-ratelimit-limit-requests": "0" }, undefined],
    [{ "x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "3 weeks" }, {
      requests: { remaining: 5 },
    }],
    [{ "x-ratelimit-remaining-requests": "9".repeat(400) }, undefined],
    [{ "ratelimit": ";;;,,,===" }, undefined],
    [{ "ratelimit": '"default"' }, undefined],
    [{ "ratelimit-remaining": "" }, undefined],
  ]);
});

Deno.test("readRateHeaders never throws, and what it says is never negative or endless", () => {
  const names = [
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-remaining-tokens",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-input-tokens-limit",
    "anthropic-ratelimit-input-tokens-remaining",
    "anthropic-ratelimit-tokens-reset",
    "ratelimit",
    "ratelimit-policy",
    "ratelimit-limit",
    "ratelimit-remaining",
    "ratelimit-reset",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "date",
  ];
  const bits = [
    "0",
    "1",
    "99",
    ".",
    "-",
    "s",
    "ms",
    "h",
    ";",
    ",",
    "=",
    '"a"',
    "r=1",
    "q=0",
    "w",
    "T",
    ":",
    "2026-01-01",
    "e9",
  ];
  for (let seed = 1; seed <= 5000; seed++) {
    const random = seededRandom(seed);
    const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
    const texts = new Map(Array.from({ length: 5 }, () => [
      pick(names),
      Array.from({ length: Math.floor(random() * 5) }, () => pick(bits)).join(""),
    ]));
    const read = readRateHeaders({ get: (name) => texts.get(name) ?? null }, now);
    for (const one of [read?.requests, read?.tokens]) {
      for (const value of Object.values(one ?? {})) {
        assertEquals(Number.isFinite(value) && value >= 0, true, `seed ${seed}: ${JSON.stringify([...texts])}`);
      }
    }
  }
});

Deno.test("a response without rate limits costs a look per family", () => {
  let looks = 0;
  const get = () => {
    looks++;
    return null;
  };
  assertEquals(readRateHeaders({ get }, now), undefined);
  assertEquals(looks, 7);
});
