"""The official Python package `openai` with the proxy: a whole response, a streamed one, and the model that answered.

    pip install openai
    python examples/python_client.py http://127.0.0.1:8080
"""

import sys

from openai import OpenAI

address = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
client = OpenAI(base_url=f"{address}/v1", api_key="the token, or any text if none is set")
messages = [{"role": "user", "content": "What is a failover?"}]

raw = client.chat.completions.with_raw_response.create(model="chat-completion", messages=messages)
print(raw.parse().choices[0].message.content)
print(f"— {raw.headers['x-mesh-model']}, fallbacks: {raw.headers['x-mesh-fallbacks']}\n")

for chunk in client.chat.completions.create(model="chat-completion", messages=messages, stream=True):
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
