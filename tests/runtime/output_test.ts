import { assertEquals } from "@std/assert";
import { createOutput } from "../../src/runtime/_output.ts";
import { until } from "../support/patience.ts";

function stream(isTerminal = false) {
  const written: string[] = [];
  let end = () => {};
  const output = createOutput({
    isTerminal,
    write: (text) => written.push(text) > 0,
    onExit: (task) => end = task,
  });
  return { output, written, end: () => end() };
}

Deno.test("writeSoon() joins what comes within a moment", async () => {
  const { output, written } = stream();
  output.writeSoon("a\n");
  output.writeSoon("b\n");
  assertEquals(written, []);
  await until(() => written.length > 0); // real timers are what is tried
  assertEquals(written, ["a\nb\n"]);
});

Deno.test("writeSoon() keeps its place before what is written at once", () => {
  const { output, written } = stream();
  output.writeSoon("first\n");
  output.write("second\n");
  assertEquals(written, ["first\n", "second\n"]);
});

Deno.test("writeSoon() has written everything when the process ends", () => {
  const { output, written, end } = stream();
  output.writeSoon("last words\n");
  end();
  assertEquals(written, ["last words\n"]);
});

Deno.test("writeSoon() delays nothing at a terminal, and buffers no more than 64 Ki characters", () => {
  const terminal = stream(true);
  terminal.output.writeSoon("now\n");
  assertEquals(terminal.written, ["now\n"]);
  const { output, written } = stream();
  output.writeSoon("x".repeat(64 * 1024));
  assertEquals(written.length, 1);
});
