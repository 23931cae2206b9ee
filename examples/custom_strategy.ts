/**
 * A custom strategy: the less busy of two randomly selected models ("the power of two choices").
 *
 *     deno run -A examples/custom_strategy.ts http://127.0.0.1:8080
 *
 * It sends twelve concurrent requests, and prints how many each model answered.
 */
import { create, routingOf, type SelectionStrategy } from "@modelmesh/core";

const [address = "http://127.0.0.1:8080"] = Deno.args;

const twoChoices: SelectionStrategy = {
  select(candidates, { random }) {
    const pick = () => candidates[Math.floor(random() * candidates.length)]!;
    const [one, other] = [pick(), pick()];
    return one.inFlight <= other.inFlight ? one : other;
  },
  /** Higher is better: `explain()` sorts by it. */
  score: ({ inFlight }) => -inFlight,
};

const names = ["alpha", "gamma"]; // models of the demo; beta rejects every other request
await using client = create({
  config: {
    providers: {
      demo: { connector: "openai.compatible.v1", base_url: `${address}/v1`, discovery: { enumerate_models: false } },
    },
    models: Object.fromEntries(names.map((name) => [name, { provider: "demo", capabilities: ["chat-completion"] }])),
    pools: { chat: { models: names, strategy: twoChoices } },
  },
});

const answers = await Promise.all(
  Array.from({ length: 12 }, () => client.chat.completions.create({ messages: [{ role: "user", content: "Hello" }] })),
);
for (const [model, group] of Map.groupBy(answers, (answer) => routingOf(answer)?.model)) {
  console.log(`${model}: ${group.length}`);
}
