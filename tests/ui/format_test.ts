/** How the dashboard writes numbers and times. */
import { assertEquals } from "@std/assert";
import { count, counted, duration, percent, rate, shortDuration, span, usd } from "../../ui/format.ts";

Deno.test("Counts are exact up to 9 999, then have one decimal and a unit", () => {
  assertEquals([0, 950, 9999, 12_400, 3_000_000].map(count), ["0", "950", "9,999", "12.4K", "3M"]);
  assertEquals([0, 1, 12].map((value) => counted(value, "model")), ["0 models", "1 model", "12 models"]);
});

Deno.test("Rates keep a digit that is not 0, and no trailing zeros", () => {
  assertEquals([0, 0.0034, 0.25, 1, 2.54, 14.6, 12_400].map(rate), ["0", "0.003", "0.25", "1", "2.5", "15", "12.4K"]);
});

Deno.test("Durations have the unit that fits", () => {
  assertEquals([undefined, 0, 0.84, 5.25, 840, 1240, 59_000, 125_000].map(duration), [
    "–",
    "0 ms",
    "840 µs",
    "5.3 ms",
    "840 ms",
    "1.24 s",
    "59.0 s",
    "2 min 5 s",
  ]);
  assertEquals([0, 500, 1000, 1500].map(shortDuration), ["0", "500 ms", "1 s", "1.5 s"]);
});

Deno.test("Times to a recovery are rounded up, in two units at most", () => {
  assertEquals([0, 1, 8000, 200_000, 7_500_000, 180_000_000].map(span), [
    "0 s",
    "1 s",
    "8 s",
    "3 min 20 s",
    "2 h 5 min",
    "2 d 2 h",
  ]);
});

Deno.test("Amounts and shares stay readable when they are tiny", () => {
  assertEquals([undefined, 0, 0.000_042, 0.012, 12.3].map(usd), ["–", "$0", "$0.000042", "$0.01", "$12.30"]);
  assertEquals([0, 0.0004, 0.015, 0.5, 1].map(percent), ["0 %", "< 0.1 %", "1.5 %", "50 %", "100 %"]);
});
