/** `modelmesh chat` at a terminal, where it is a conversation, and with a pipe, where it is a prompt. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { runCommand, startCommand } from "../support/_cli.ts";
import { until } from "../support/patience.ts";
import { clientsConfig } from "../support/_runtime_clients.ts";
import { Gate, startUpstream, status, stream } from "../support/upstream.ts";

const args = ["chat", "--config", "mesh.json"];
const files = (upstream: { readonly url: string }) => ({
  "mesh.json": JSON.stringify(clientsConfig(upstream, undefined)),
});
const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });

describe("modelmesh chat at a terminal, without a prompt", () => {
  it("is a conversation: each line is sent with what was said before it, until Ctrl-D", async () => {
    await using upstream = await startUpstream([stream({ text: "Hello" }), stream({ text: "Fine" })]);
    const { code, out, err } = await runCommand([...args, "--system", "Be brief"], {
      files: files(upstream),
      isInteractive: true,
      lines: ["Hi", "", "  ", "How are you?"],
    });
    assertEquals([code, out], [0, "Hello\nFine\n"], err);
    assertMatch(
      err,
      /^Conversation with chat\. Ctrl-C stops a response, Ctrl-D ends the conversation\n> Served by a of a /,
    );
    assertEquals(upstream.requests.map((request) => request.json().messages), [
      [{ role: "system", content: "Be brief" }, user("Hi")],
      [{ role: "system", content: "Be brief" }, user("Hi"), assistant("Hello"), user("How are you?")],
    ]);
  });

  it("goes on after a request that failed, and does not become a part of it", async () => {
    await using upstream = await startUpstream([
      status(400, { error: { message: "Too odd" } }),
      stream({ text: "Good" }),
    ]);
    const setup = { files: files(upstream), isInteractive: true, lines: ["Odd", "Plain"] };
    const { code, out, err } = await runCommand(args, setup);
    assertEquals([code, out], [0, "Good\n"], err);
    assertStringIncludes(err, "> Too odd\n> ");
    assertEquals(upstream.requests.map((request) => request.json().messages), [[user("Odd")], [user("Plain")]]);
  });

  it("stops a response by Ctrl-C, and keeps the part that was printed", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream([
      stream({ text: "Once upon a time", gate }),
      stream({ text: "The end" }),
    ]);
    const { shell, code } = startCommand(args, {
      files: files(upstream),
      isInteractive: true,
      lines: ["A tale", "And?"],
    });
    gate.open(3);
    await until(() => shell.out !== "", "the response begins");
    const begun = shell.out;
    shell.signal("SIGINT");
    assertEquals(await code, 0, shell.err);
    assertStringIncludes(shell.err, "\nStopped\n> ");
    assertEquals(shell.out, `${begun}The end\n`);
    assertEquals(upstream.requests[1]!.json().messages, [user("A tale"), assistant(begun), user("And?")]);
    assertEquals([shell.listeners, shell.running], [0, 0]);
    gate.openAll();
  });

  it("ends at once without a line", async () => {
    await using upstream = await startUpstream(stream());
    const { code, out } = await runCommand(args, { files: files(upstream), isInteractive: true });
    assertEquals([code, out, upstream.calls], [0, "", 0]);
  });

  it("is not for --json, which needs a prompt", async () => {
    const { code, out, err } = await runCommand(["chat", "--json"], { isInteractive: true });
    assertEquals([code, out], [2, ""]);
    assertMatch(err, /^"--json" needs a prompt: /);
  });
});

describe("modelmesh chat with a pipe, without a prompt", () => {
  it("takes all of standard input as one prompt", async () => {
    await using upstream = await startUpstream(stream({ text: "Summary" }));
    const { code, out, err } = await runCommand(args, { files: files(upstream), input: "One\n\nTwo\n" });
    assertEquals([code, out], [0, "Summary\n"], err);
    assertEquals(upstream.requests.map((request) => request.json().messages), [[user("One\n\nTwo\n")]]);
  });
});
