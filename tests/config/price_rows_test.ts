/** Price rows of a configured model: which are accepted, and what is wrong with the others. */
import { assertEquals } from "@std/assert";
import type { KnownConnectors } from "../../src/config/settings/known.ts";
import { validate } from "../../src/config/build/validate.ts";
import { mergePricing } from "../../src/util/pricing.ts";
import { known, listWarnings } from "./_contradictions.ts";
import { catchProblems } from "./_known.ts";

const usual = { input: 2, output: 12 };
const priority = { tier: "priority", input: 4, output: 24 };

/** A document with one model of these prices. */
function priced(pricing: unknown): Record<string, unknown> {
  return {
    providers: { "acme.llm.v1": {} },
    models: { m: { provider: "acme.llm.v1", pricing } },
    pools: { p: { models: ["m"] } },
  };
}

/** The path within `models.m.` and the message of each problem. */
const invalid: readonly (readonly [pricing: unknown, ...problems: string[]])[] = [
  [
    [{ ...usual, tier: "fasst" }],
    'pricing[0].tier: unknown value "fasst", did you mean "fast"? (allowed: "default", "standard", "batch", "fast", "flex", "performance", "priority", "reserved", "scale", "ultrafast")',
  ],
  [[usual, { ...priority, input: -1 }], "pricing[1].input: expected a number of 0 or more, found -1"],
  [
    [{ ...usual, hours: "24:30-1" }],
    'pricing[0].hours: expected two times (UTC) such as "16:30-00:30", found "24:30-1"',
  ],
  [
    [{ ...usual, hours: "10:00-10:00" }],
    'pricing[0].hours: expected two times (UTC) such as "16:30-00:30", found "10:00-10:00"',
  ],
  ...["mon-fry 01:00-04:00", "weekdays 01:00-04:00", "mon-fri", "fri-mon 24:30-01:00"].map((hours) =>
    [
      [{ ...usual, hours }],
      `pricing[0].hours: expected two times (UTC) such as "16:30-00:30", found "${hours}"`,
    ] as const
  ),
  [
    [usual, { ...usual, hours: "mon-fri 01:00-04:00" }, { ...usual, hours: "fri-sun 03:00-05:00" }],
    "pricing[2]: applies to the same calls as the row at index 1",
  ],
  [
    [usual, { ...usual, hours: "sun 22:00-02:00" }, { ...usual, hours: "mon 01:00-03:00" }],
    "pricing[2]: applies to the same calls as the row at index 1",
  ],
  [[{ ...usual, from: "2026-02-30" }], 'pricing[0].from: expected a date such as "2027-01-31", found "2026-02-30"'],
  [[{ ...usual, above_tokens: 0 }], "pricing[0].above_tokens: expected an integer of 1 or more, found 0"],
  [
    [{ ...usual, multipliers: { inference_geo: { us: -1.1 } } }],
    "pricing[0].multipliers.inference_geo.us: expected a number of 0 or more, found -1.1",
  ],
  [[usual, { tier: "flex" }], "pricing[1]: has no price"],
  [[], "pricing: expected at least one item, found an empty list"],
  [[usual, usual], "pricing[1]: applies to the same calls as the row at index 0"],
  [[usual, { ...usual, tier: "standard" }], "pricing[1]: applies to the same calls as the row at index 0"],
  [
    [{ ...usual, from: "2027-01-01" }, usual],
    'pricing[1]: applies before the row at index 0: rows are in order of "from", then of "above_tokens"',
  ],
  [
    [{ ...usual, above_tokens: 200 }, { ...usual, above_tokens: 100 }],
    'pricing[1]: applies before the row at index 0: rows are in order of "from", then of "above_tokens"',
  ],
  [
    [usual, { ...usual, hours: "16:30-00:30" }, { ...usual, hours: "00:00-08:00" }],
    "pricing[2]: applies to the same calls as the row at index 1",
  ],
  [
    [{ ...usual, hours: "16:30-00:30" }, usual],
    'pricing[1]: replaces the row at index 0 at all hours: a row without "hours" precedes those with them',
  ],
];

for (const [pricing, ...problems] of invalid) {
  Deno.test(`the prices ${JSON.stringify(pricing)} are rejected`, () => {
    const found = catchProblems(() => validate(priced(pricing), { knownConnectors: known }));
    assertEquals(found, problems.map((line) => `models.m.${line}`));
  });
}

Deno.test("rows with conditions are accepted in order, by tier and region", () => {
  const pricing = [
    usual,
    { ...usual, hours: "16:30-00:30" },
    { ...usual, hours: "mon-fri 00:30-08:00" },
    { ...usual, hours: "sat-sun 00:30-08:00" },
    { ...usual, hours: "wed 08:00-09:00" },
    { ...usual, above_tokens: 100 },
    priority,
    { ...priority, above_tokens: 100 },
    { ...usual, region: "eu" },
    { ...usual, from: "2027-01-01", multipliers: { inference_geo: { us: 1.1 } } },
  ];
  const settings = validate(priced(pricing), { knownConnectors: known });
  assertEquals(settings.models.get("m")?.pricing, pricing as never);
});

Deno.test("a price that no operation of the model is billed by is reported with its row", () => {
  assertEquals(listWarnings(priced([usual, { ...priority, per_page: 1 }])), [
    "models.m.pricing[1].per_page: has no effect: the model serves no documents",
  ]);
});

Deno.test("a price per minute has an effect on chat only where the vendor bills the audio of a chat by its duration", () => {
  const other: KnownConnectors = {
    ...known,
    providers: known.providers.map((one) => ({ ...one, billsAudioByDuration: true })),
  };
  const document = priced({ ...usual, per_minute: 0.004 });
  assertEquals(validate(document, { knownConnectors: other }).warnings, []);
  assertEquals(listWarnings(document), [
    "models.m.pricing.per_minute: has no effect: the model serves no transcription, audio-translation",
  ]);
});

Deno.test("an object overrides every row, and prices of a tier keep their ratio; rows replace the known ones", () => {
  const rows = [{ ...usual, per_search: 0.01 }, { tier: "priority" as const, input: 4, output: 24, per_search: 0.01 }];
  assertEquals(mergePricing(rows, { input: 1, per_search: 0.02 }), [
    { input: 1, output: 12, per_search: 0.02 },
    { tier: "priority", input: 2, output: 24, per_search: 0.02 },
  ]);
  assertEquals(mergePricing(rows, { input: 0, output: 0, per_search: 0 })?.[1], {
    tier: "priority",
    input: 0,
    output: 0,
    per_search: 0,
  });
  assertEquals(mergePricing(rows, [usual]), [usual]);
  assertEquals(mergePricing(rows, { ...usual, hours: "10:00-11:00" }), [{ ...usual, hours: "10:00-11:00" }]);
});
