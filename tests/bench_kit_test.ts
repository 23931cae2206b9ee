import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ratio } from "../scripts/bench/figures/throughput.ts";
import { collectionsIn } from "../scripts/bench/kit/collections.ts";
import { Disturbance } from "../scripts/bench/kit/disturbance.ts";
import { readProcessor } from "../scripts/bench/kit/machine.ts";
import { readOptions } from "../scripts/bench/kit/options.ts";
import { median, orderParticipants, percentile, summarizePairs } from "../scripts/bench/kit/statistics.ts";
import { formatNumber, formatRows, formatTable, judgeFigure, type Row } from "../scripts/bench/kit/table.ts";
import { coreTicksIn, cpuTicksIn, residentKibIn } from "../scripts/bench/kit/usage.ts";
import { stream, wholeAnswer, wholeStream } from "../scripts/bench/programs/mock_answers.js";

Deno.test("percentile() lies between the two nearest samples", () => {
  const cases = [
    [[3, 1, 2], 0.5, 2],
    [[1, 2], 0.5, 1.5],
    [[1, 2, 3, 4, 5], 1, 5],
    [[7], 0.99, 7],
    [[], 0.5, NaN],
  ] as const;
  for (const [samples, share, expected] of cases) assertEquals(percentile(samples, share), expected);
});

Deno.test("summarizePairs() compares round by round, says how far they are apart, and leaves out those that failed", () => {
  const divide = (left: number, right: number) => left / right;
  assertEquals(summarizePairs([10, 40, 90], [10, 20, 30], divide), { measured: 2, spread: [1, 3] });
  assertEquals(summarizePairs([10, NaN, 90], [10, 20, 30], divide), { measured: 2, spread: [1, 3] });
  assertEquals(summarizePairs([10, 5], [0, 5], divide), { measured: 1, spread: [1, 1] });
  assertEquals(summarizePairs([], [1], divide), { measured: NaN });
});

Deno.test("orderOf() lets each begin a round", () => {
  assertEquals([0, 1, 2, 3].map((round) => orderParticipants(["a", "b", "c"], round).join("")), [
    "abc",
    "bca",
    "cab",
    "abc",
  ]);
  assertEquals(orderParticipants([], 5), []);
});

Deno.test("median() of samples in any order", () => {
  assertEquals(median([9, 1, 5]), 5);
});

Deno.test("verdictOf() knows both directions", () => {
  const more = { figure: "", must: 1, aim: 1.25, better: "more" } as const;
  const less = { figure: "", must: 1, aim: 0.8, better: "less" } as const;
  const cases: [Row, string][] = [
    [{ ...more, measured: 0.99 }, "MISSED"],
    [{ ...more, measured: 1 }, "reached"],
    [{ ...more, measured: 1.25 }, "aim reached"],
    [{ ...less, measured: 1.01 }, "MISSED"],
    [{ ...less, measured: 0.9 }, "reached"],
    [{ ...less, measured: 0.8 }, "aim reached"],
    [{ ...less, measured: Infinity }, "MISSED"],
    [{ ...less, measured: undefined }, "not measured"],
    [{ ...less, measured: NaN }, "not measured"],
    [{ figure: "", measured: 3, better: "less" }, ""],
  ];
  for (const [row, expected] of cases) assertEquals(judgeFigure(row), expected);
});

Deno.test("what other programs have disturbed is not judged", () => {
  const row: Row = { figure: "", must: 1, better: "more", measured: 2, isDisturbed: true };
  assertEquals(judgeFigure(row), "not judged: disturbed");
  assertEquals(judgeFigure({ ...row, measured: 0 }), "not judged: disturbed");
  assertEquals(judgeFigure({ figure: "", better: "more", measured: 2, isDisturbed: true }), "");
});

Deno.test("a measurement that others disturb is repeated, and counted if it stays disturbed", async () => {
  const shares = [0.2, 0.01, 0.5, 0.5, 0.5, 0];
  const disturbance = new Disturbance();
  const prepared: number[] = [];
  const measure = () =>
    disturbance.avoid((repeats) => {
      prepared.push(repeats);
      return Promise.resolve();
    }, () => {
      const share = shares.shift()!;
      disturbance.add(share);
      return Promise.resolve(share);
    });
  assertEquals([await measure(), disturbance.kept], [0.01, 0]);
  assertEquals([await measure(), disturbance.kept], [0.5, 1]);
  assertEquals([await measure(), disturbance.kept], [0, 1]);
  assertEquals(prepared, [0, 1, 0, 1, 2, 0]);
  assertEquals(disturbance.share(1), 0.5);
});

Deno.test("readProcessor() knows the model, the cores, and whether they are virtual", () => {
  const core = (index: number) =>
    `processor\t: ${index}\nmodel name\t: Example(R)  CPU @ 2.10GHz\nflags\t\t: fpu sse hypervisor lahf_lm\n\n`;
  assertEquals(readProcessor(core(0) + core(1)), { cores: 2, model: "Example(R) CPU @ 2.10GHz", isVirtual: true });
  assertEquals(readProcessor(core(0).replace("hypervisor", "")).isVirtual, false);
  assertEquals(readProcessor(""), { cores: 0, model: "", isVirtual: false });
});

Deno.test("formatNumber() keeps three digits that count", () => {
  const cases = [[12_345.6, "12,346"], [75.25, "75.3"], [0.1924, "0.192"], [1, "1"], [0, "0"], [NaN, "-"]] as const;
  for (const [value, expected] of cases) assertEquals(formatNumber(value), expected);
});

Deno.test("formatTable() puts numbers to the right", () => {
  const expected = ["name | req/s", "-----|------", "a    |    12", "bcde |     5"].join("\n");
  assertEquals(formatTable(["name", "req/s"], [["a", "12"], ["bcde", "5"]]), expected);
});

Deno.test("formatRows() prints the figure, what it must reach and the verdict", () => {
  const row: Row = { figure: "wait", measured: 0.5, unit: "ms", must: 1.2, aim: 0.9, better: "less" };
  assertEquals(formatRows([row]).split("\n").at(-1), "wait   |   0.5 ms | 1.2 ms | 0.9 ms | aim reached |");
  assertMatch(formatRows([{ ...row, spread: [0.25, 1] }]), /^wait +\| 0\.5 ms \(0\.25 to 1\) +\|/m);
});

Deno.test("ratio() is of rounds, and nothing when one took no part", () => {
  const rate = (perSecond: number) => ({ perSecond, cpuMicros: 100 / perSecond, p99: 1 });
  const rates = new Map([["deno", [rate(4), rate(9)]], ["pass", [rate(2), rate(3)]]]);
  assertEquals(ratio(rates, { name: "deno", base: "pass", of: "perSecond" }), { measured: 2.5, spread: [2, 3] });
  assertEquals(ratio(rates, { name: "deno", base: "pass", of: "cpuMicros" })?.measured.toFixed(3), "0.417");
  assertEquals(ratio(rates, { name: "deno", base: "litellm", of: "perSecond" }), undefined);
});

Deno.test("cpuTicksIn() is not confused by a program's name", () => {
  const rest = "S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0";
  assertEquals(cpuTicksIn(`42 (a (b) c) ${rest}`), 300);
});

Deno.test("coreTicksIn() takes the one core, with what the host withheld, without what it waited for", () => {
  const text = "cpu  9 9 9 9 9\ncpu0 100 1 40 9000 7 0 3 10 0 0\ncpu10 7 7 7 7\ncpu1 4 5 6 9000 7\n";
  assertEquals([coreTicksIn(text, 0), coreTicksIn(text, 1)], [151, 15]);
});

Deno.test("residentKibIn() reads the kernel's own number", () => {
  assertEquals(residentKibIn("Name:\tdeno\nVmPeak:\t   9000 kB\nVmRSS:\t   68056 kB\n"), 68056);
});

Deno.test("readOptions() takes lists and numbers, and refuses what it does not know", () => {
  const read = readOptions(["--only=tls,start", "--connections=64", "--seconds=3", "--json"])!;
  assertEquals([read.only, read.connections, read.seconds, read.rounds], [["tls", "start"], [64], 3, 5]);
  assertEquals([read.isJson, read.isQuick, readOptions(["--quick"])!.connections], [true, false, [16, 64]]);
  assertEquals(readOptions(["--help"]), undefined);
  for (const wrong of ["--fast", "throughput", "--seconds=0", "--rounds=x", "--connections=1.5"]) {
    assertThrows(() => readOptions([wrong]), TypeError);
  }
});

Deno.test("wholeAnswer() has the size it is asked for, and says it", () => {
  const { bytes, idAt } = wholeAnswer(1024);
  const [head = "", body = ""] = bytes.toString().split("\r\n\r\n");
  assertEquals([body.length, head.includes("content-length: 1024")], [1024, true]);
  assertEquals(JSON.parse(body).choices[0].message.role, "assistant");
  assertEquals(bytes.toString().slice(idAt, idAt + 12), "000000000000");
});

Deno.test("wholeStream() is made of chunks whose lengths are right", async () => {
  const text = wholeStream(3, true).toString();
  const chunks = text.slice(text.indexOf("\r\n\r\n") + 4).split("\r\n");
  const events: string[] = [];
  for (let at = 0; chunks[at] !== "0"; at += 2) {
    assertEquals(parseInt(chunks[at]!, 16), chunks[at + 1]!.length);
    events.push(chunks[at + 1]!);
  }
  const data = (await new Response(events.join("")).text()).split("\n\n").filter((event) => event !== "");
  assertEquals([data.length, data.at(-1)], [7, "data: [DONE]"]); // role, 3 tokens, finish, usage, end
  assertEquals(JSON.parse(data.at(-2)!.slice(6)).usage.total_tokens, 30);
  assertEquals(stream.first(1234).includes("chatcmpl-000000001234"), true);
});

Deno.test("collectionsIn() counts what V8 prints on Node 20 and 24, and on Deno", () => {
  const mu = "(average mu = 1.000, current mu = 1.000)";
  const log = [
    '{"level":"info","message":"listening"}',
    `[1762:0x55ea9a854000]       20 ms: Scavenge 3.4 (4.4) -> 3.0 (5.2) MB, pooled: 0.0 MB, 3.62 / 0.00 ms ${mu} allocation failure; `,
    `[1772:0x347d7c00]       66 ms: Scavenge 3.9 (4.0) -> 3.5 (5.0) MB, 4.53 / 0.00 ms  ${mu} allocation failure; `,
    `[1816:0xf792d00]       46 ms: Mark-Compact (reduce) 3.1 (4.0) -> 2.6 (5.0) MB, pooled: 0 MB, 2.16 / 0.00 ms  ${mu} testing; `,
  ];
  assertEquals(collectionsIn(log.join("\n")), { scavenges: 2, scavengeMs: 8.15, full: 1, fullMs: 2.16 });
  assertEquals(collectionsIn(""), { scavenges: 0, scavengeMs: 0, full: 0, fullMs: 0 });
});
