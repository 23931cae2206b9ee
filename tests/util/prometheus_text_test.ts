import { assertEquals, assertThrows } from "@std/assert";
import type { MetricFamily } from "../../src/contracts/metrics.ts";
import { prometheusText } from "../../src/util/prometheus_text.ts";
import { readPrometheus } from "../support/prometheus.ts";

function gauge(labels: Record<string, string>, value: number): MetricFamily {
  return { name: "up", help: "Is it\nup? \\o/", type: "gauge", samples: [{ labels, value }] };
}

Deno.test("prometheusText() escapes help and label values, so that no name ends its line or its quotes", () => {
  const names = ['a"b', "a\\b", "a\nb", 'x",y="z', "ünïcode ✓", "", "\\n", "}"];
  for (const name of names) {
    const family = readPrometheus(prometheusText([gauge({ name }, 1)])).get("up")!;
    assertEquals(family.samples, [{ name: "up", labels: { name }, value: 1 }]);
    assertEquals(family.help, "Is it\\nup? \\\\o/");
  }
});

Deno.test("prometheusText() writes very small and very large numbers as numbers", () => {
  for (const value of [0, 1e-9, 0.1 + 0.2, 2 ** 53, 1e21]) {
    assertEquals(readPrometheus(prometheusText([gauge({}, value)])).get("up")!.samples[0]!.value, value);
  }
});

Deno.test("prometheusText() writes cumulative buckets that end with +Inf, and leaves out a family without samples", () => {
  const sample = { labels: { pool: "p" }, bounds: [0.1, 1], counts: [2, 0, 3], sum: 30.5, count: 5 };
  const text = prometheusText([
    { name: "seconds", help: "How long.", type: "histogram", samples: [sample] },
    { name: "none", help: "Nothing.", type: "counter", samples: [] },
  ]);
  assertEquals(
    text,
    `# HELP seconds How long.
# TYPE seconds histogram
seconds_bucket{pool="p",le="0.1"} 2
seconds_bucket{pool="p",le="1"} 2
seconds_bucket{pool="p",le="+Inf"} 5
seconds_sum{pool="p"} 30.5
seconds_count{pool="p"} 5
`,
  );
  readPrometheus(text);
});

Deno.test("the reader of the tests refuses what is not an exposition", () => {
  for (const text of ["up 1", "up{a=b} 1\n", "# TYPE up gauge\nup 1\nup 2\n", '# TYPE up gauge\nup{a="\\x"} 1\n']) {
    assertThrows(() => readPrometheus(text));
  }
});
