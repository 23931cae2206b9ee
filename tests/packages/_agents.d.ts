// What the tests use of OpenAI's agents SDK. Its own types load those of Node, in place of Deno's, for all of the project.

export declare class Agent {
  constructor(
    settings: { name: string; instructions: string; model: string; tools: readonly object[] },
  );
}

export declare class OpenAIProvider {
  constructor(settings: { baseURL: string; apiKey: string });
}

export interface StreamedRun extends AsyncIterable<{ type: string; data: { type: string; delta: string } }> {
  completed: Promise<void>;
  finalOutput: unknown;
}

export declare class Runner {
  constructor(settings: { modelProvider: OpenAIProvider });
  run(agent: Agent, input: string): Promise<{ finalOutput: unknown }>;
  run(agent: Agent, input: string, options: { stream: true }): Promise<StreamedRun>;
}

export declare function setTraceProcessors(processors: readonly never[]): void;

export declare function setTracingDisabled(isDisabled: boolean): void;

export declare function tool(
  settings: { name: string; description: string; parameters: object; strict: true; execute(given: unknown): string },
): object;
